package lunar.raid.metadata.checksum;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.zip.CRC32C;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.Capability;
import lunar.block.ForwardingDevice;
import lunar.block.Limits;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.block.spi.RequestValidation;
import lunar.raid.CheckedDevice;
import org.jspecify.annotations.Nullable;

/**
 * A member that keeps checksums of its data area, each changed with its block. They are stable together: a flush writes
 * the pages that have changed first. So after a crash they may differ only where the intent bitmap has a bit, since a
 * bit goes only after a flush; there {@link ChecksumInvalidation} makes them unknown. If the member loses its cache
 * while it is in use, those that have changed since the last flush become unknown. Metadata pass by.
 *
 * <p>Threads: any, as for all devices; but the writer of a block ensures that nothing else writes it meanwhile.
 */
public final class ChecksummedMember extends ForwardingDevice implements CheckedDevice {
    /** Limits the pages of a request. */
    private static final int MAX_BYTES = 16 << 20;

    private final ChecksumArea area;
    private final ChecksumCache cache;
    private final boolean verifies;
    private final int checksumOfZeroes;
    private final Limits limits;
    private final Set<Capability> capabilities = EnumSet.noneOf(Capability.class);
    private final AtomicLong wrong = new AtomicLong();
    /** Guarded by itself. */
    private final ArrayDeque<ChecksumRequest> free = new ArrayDeque<>();

    /**
     * A member over its device.
     *
     * @param capacity pages in memory at most
     * @param verifies whether every read is compared, not only those that others are computed from
     */
    public ChecksummedMember(BlockDevice below, ChecksumArea area, int capacity, boolean verifies) {
        super(below);
        this.area = area;
        this.verifies = verifies;
        int most = MAX_BYTES / area.blockSize();
        cache = new ChecksumCache(area,
                Math.max(capacity, (int) (2 * ChecksumFormat.pages(most) + 2)),
                below::writeLosses);
        checksumOfZeroes = ChecksumFormat.of(ByteBuffer.allocate(area.blockSize()), 0,
                area.blockSize(),
                new CRC32C());
        Limits given = below.limits();
        limits = new Limits(Math.min(most, given.maxTransferBlocks()),
                Math.min(most, given.optimalTransferBlocks()),
                Math.min(most, given.maxUnmapBlocks()),
                Math.min(most, given.maxWriteZeroesBlocks()), 0, given.queueDepth(),
                given.bufferAlignmentBytes());
        for (Capability one : Set.of(Capability.UNMAP, Capability.UNMAP_ZEROES,
                Capability.WRITE_ZEROES)) {
            if (below.supports(one)) {
                capabilities.add(one);
            }
        }
    }

    @Override
    public Limits limits() { return limits; }

    @Override
    public Set<Capability> capabilities() { return capabilities; }

    @Override
    public void submit(BlockRequest request) { submit(request, false, below()::submit); }

    @Override
    public void submitChecked(BlockRequest read) { submit(read, true, below()::submit); }

    private void submit(BlockRequest request, boolean isChecked, ChecksumCache.Way way) {
        boolean isPlain = request.operation() == Operation.READ && !isChecked && !verifies;
        if (isPlain || !concernsSums(request)) {
            way.go(request);
            return;
        }
        try {
            RequestValidation.check(request, this);
        } catch (StorageException e) {
            RequestCompletion.fail(request, e);
            return;
        }
        take().start(request, request.lba() - area.firstBlock(), isChecked, way);
    }

    private boolean concernsSums(BlockRequest request) {
        long first = request.lba() - area.firstBlock();
        return request.operation() == Operation.FLUSH
                || (first >= 0 && first < area.blocks() && request.blockCount() > 0);
    }

    /** {@inheritDoc} All is done by this thread, unless others are at it, too. */
    @Override
    public void execute(BlockRequest request) throws StorageException {
        if (!concernsSums(request)) {
            below().execute(request);
            return;
        }
        var ended = new CountDownLatch(1);
        var failure = new AtomicReference<@Nullable StorageException>();
        submit(new BlockRequest().asCopyOf(request).onCompletion((_, why) -> {
            failure.set(why);
            ended.countDown();
        }), false, this::executeBelow);
        boolean interrupted = false;
        while (ended.getCount() > 0) {
            try {
                ended.await();
            } catch (InterruptedException _) { // the buffer belongs to the member until it ends
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        StorageException why = failure.get();
        if (why != null) {
            throw why;
        }
    }

    private void executeBelow(BlockRequest request) {
        StorageException failure = null;
        try {
            below().execute(request);
        } catch (StorageException e) {
            failure = e;
        }
        RequestCompletion.complete(request, failure);
    }

    private ChecksumRequest take() {
        synchronized (free) {
            ChecksumRequest there = free.poll();
            if (there != null) {
                return there;
            }
        }
        return new ChecksumRequest(this, cache);
    }

    void giveBack(ChecksumRequest request) {
        synchronized (free) {
            free.push(request);
        }
    }

    /** The volume goes on although members have lost writes: checksums that are not stable become unknown. */
    void suspect() {
        cache.forget();
    }

    int checksumOfZeroes() { return checksumOfZeroes; }

    void foundWrong() { wrong.incrementAndGet(); }

    /** Checked reads that brought something else than was written. */
    long wrong() {
        return wrong.get();
    }

    /** Pages in memory. */
    int cachedPages() { return cache.size(); }
}
