package lunar.filter;

import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.Phaser;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Capability;
import lunar.block.DeviceGoneException;
import lunar.block.Extent;
import lunar.block.LostWritesException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.block.spi.RequestValidation;

/**
 * A volatile write cache for tests, {@code volatile:file:disk.img}: keeps data written without FUA in memory until a
 * flush. It is lost when the process is killed, like the cache of a disk at a power failure, or by {@link #dropCache}.
 * An orderly close flushes.
 *
 * <p>Requests run one at a time, each on the executing thread or on a virtual thread.
 */
public final class VolatileFilter extends Filter {
    /** Of cached blocks; a write that makes them more flushes them first. */
    private static final long MAX_CACHED_BYTES = 256L << 20;

    private final Phaser inFlight = new Phaser(1);
    /** Blocks that the device below does not have yet. Guarded by this, as all below. */
    private final TreeMap<Long, byte[]> cached = new TreeMap<>();
    private UUID verifier = UUID.randomUUID();
    /** Written with the monitor; reading it does not wait for requests. */
    private volatile long losses;
    /** Whether the next flush fails because of a loss. */
    private boolean isLost;
    private boolean closed;

    /** A filter that owns the device below. */
    public VolatileFilter(BlockDevice below) {
        super(below, Set.of(Capability.TRANSFER_TO, Capability.NON_BLOCKING,
                Capability.ATOMIC_WRITE));
    }

    /** Loses what was not flushed, as in a power failure; if that is anything, the next flush fails. */
    public synchronized void dropCache() {
        if (!cached.isEmpty()) {
            long lost = losses + 1;
            losses = lost;
            isLost = true;
            cached.clear();
        }
        verifier = UUID.randomUUID();
    }

    /** Blocks that a power failure would lose now. */
    public synchronized int cachedBlocks() {
        return cached.size();
    }

    @Override
    public synchronized Optional<UUID> writeVerifier() { return Optional.of(verifier); }

    @Override
    public long writeLosses() { return losses + below().writeLosses(); }

    /** {@inheritDoc} Cached blocks may stand where the device below has a hole. */
    @Override
    public synchronized Extent extent(long lba) throws StorageException {
        Extent extent = below().extent(lba);
        return cached.isEmpty() ? extent : new Extent(lba, extent.blockCount(), true);
    }

    @Override
    public synchronized void execute(BlockRequest request) throws StorageException {
        if (closed) {
            throw new DeviceGoneException(this + " is closed");
        }
        RequestValidation.check(request, this);
        long lba = request.lba();
        long end = lba + request.blockCount();
        switch (request.operation()) {
            case READ -> {
                below().execute(request);
                cached.subMap(lba, end).forEach((at, block) -> MemorySegment.copy(
                        MemorySegment.ofArray(block), 0, request.buffer(),
                        (at - lba) * blockSize(), blockSize()));
            }
            case WRITE -> {
                if (request.fua()) {
                    cached.subMap(lba, end).clear();
                    below().execute(request);
                } else {
                    keep(request);
                }
            }
            case FLUSH -> {
                destage();
                below().execute(request);
                if (isLost) {
                    isLost = false;
                    throw new LostWritesException(this + ": the cache was lost");
                }
            }
            case UNMAP, WRITE_ZEROES -> {
                if (request.operation() == BlockRequest.Operation.UNMAP
                        // blocks that it leaves must contain the data last written
                        && !supports(Capability.UNMAP_ZEROES)) {
                    destage(cached.subMap(lba, end));
                }
                cached.subMap(lba, end).clear();
                below().execute(request);
            }
            case COMPARE_AND_WRITE -> {
                destage();
                below().execute(request);
            }
        }
    }

    private void keep(BlockRequest request) throws StorageException {
        if ((cached.size() + request.blockCount()) * blockSize() > MAX_CACHED_BYTES) {
            destage();
        }
        for (long i = 0; i < request.blockCount(); i++) {
            byte[] block = new byte[blockSize()];
            MemorySegment.copy(request.buffer(), i * blockSize(), MemorySegment.ofArray(block), 0,
                    blockSize());
            cached.put(request.lba() + i, block);
        }
    }

    private void destage() throws StorageException { destage(cached); }

    private void destage(Map<Long, byte[]> blocks) throws StorageException {
        for (Map.Entry<Long, byte[]> block : blocks.entrySet()) {
            below().write(block.getKey(), MemorySegment.ofArray(block.getValue()));
        }
        blocks.clear();
    }

    @Override
    public void submit(BlockRequest request) {
        if (inFlight.register() < 0) {
            RequestCompletion.fail(request, new DeviceGoneException(this + " is closed"));
            return;
        }
        Thread.ofVirtual().name("volatile").start(() -> {
            StorageException failure = null;
            try {
                execute(request);
            } catch (StorageException e) {
                failure = e;
            }
            try {
                RequestCompletion.complete(request, failure);
            } finally {
                inFlight.arriveAndDeregister();
            }
        });
    }

    /** Flushes, then closes the device below. */
    @Override
    public void close() throws StorageException {
        synchronized (this) {
            if (closed) {
                return;
            }
        }
        inFlight.arriveAndAwaitAdvance();
        inFlight.forceTermination();
        try {
            flush();
        } finally {
            synchronized (this) {
                closed = true;
            }
            below().close();
        }
    }

    @Override
    public String toString() { return "volatile over " + below(); }
}
