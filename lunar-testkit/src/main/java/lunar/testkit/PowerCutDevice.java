package lunar.testkit;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Capability;
import lunar.block.DeviceGoneException;
import lunar.block.Geometry;
import lunar.block.Identity;
import lunar.block.Limits;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.block.spi.RequestValidation;
import org.jspecify.annotations.Nullable;

/**
 * A disk with a volatile cache that loses power in the middle of a request. Unflushed writes may then be on the medium
 * or not, independently per block and in any order. Submitted requests complete on a thread of the device, in random
 * order.
 *
 * <p>The same seed gives the same outcome for the same requests that are executed one after the other.
 */
public final class PowerCutDevice implements BlockDevice {
    private static final int BLOCK_BYTES = 512;
    private static final int MAX_TRANSFER_BLOCKS = 256;

    private final byte[] medium;
    /** Contents that were written since the last flush, by block, the latest last. */
    private final Map<Long, List<byte[]>> cache = new HashMap<>();
    private final List<BlockRequest> queue = new ArrayList<>();
    private final Random random;
    private final boolean lies;
    /** Completes submitted requests; null while there are none, so that an unclosed device can be garbage collected. */
    private @Nullable Thread worker;
    private long requestsLeft;
    private boolean isCut;
    private boolean closed;

    private PowerCutDevice(byte[] medium, long requestsUntilCut, Random random, boolean lies) {
        this.medium = medium;
        this.requestsLeft = requestsUntilCut;
        this.random = random;
        this.lies = lies;
    }

    /** A device of zeroes that never loses power. */
    public static PowerCutDevice create(int sizeBytes, Random random) {
        return new PowerCutDevice(new byte[sizeBytes], Long.MAX_VALUE, random, false);
    }

    /**
     * Returns the medium after a power cut, which happens now if it has not yet, as a device that will lose power
     * again. This device fails from now on.
     *
     * @param requests number of requests that the new device executes; power is cut during the last one
     */
    public synchronized PowerCutDevice afterCut(long requests) {
        isCut = true;
        byte[] image = medium.clone();
        cache.forEach((lba, contents) -> {
            int which = random.nextInt(contents.size() + 1);
            if (which < contents.size()) {
                System.arraycopy(contents.get(which), 0, image, (int) (lba * BLOCK_BYTES),
                        BLOCK_BYTES);
            }
        });
        return new PowerCutDevice(image, requests, random, lies);
    }

    /** Returns a device of this content that says it has flushed and has not, as some disks do. */
    public synchronized PowerCutDevice thatLiesAboutFlushes() {
        return new PowerCutDevice(medium.clone(), Long.MAX_VALUE, random, true);
    }

    /** Whether the power has been cut. */
    public synchronized boolean isCut() { return isCut; }

    @Override
    public Geometry geometry() { return Geometry.of(BLOCK_BYTES, medium.length / BLOCK_BYTES); }

    @Override
    public Limits limits() {
        return new Limits(MAX_TRANSFER_BLOCKS, MAX_TRANSFER_BLOCKS, 0, 0, 0, 32, 1);
    }

    @Override
    public Set<Capability> capabilities() { return Set.of(); }

    @Override
    public Identity identity() { return Identity.of("power cut", new UUID(0, 0)); }

    @Override
    public boolean readOnly() { return false; }

    @Override
    public synchronized void execute(BlockRequest request) throws StorageException {
        if (closed || isCut) {
            throw new DeviceGoneException(request + ": the power is off");
        }
        RequestValidation.check(request, this);
        boolean last = requestsLeft-- == 0;
        isCut = last;
        switch (request.operation()) {
            case READ -> load(request.lba(), request.buffer());
            case WRITE -> store(request, last);
            case FLUSH -> {
                if (!last && !lies) {
                    stabilize();
                }
            }
            case UNMAP, WRITE_ZEROES, COMPARE_AND_WRITE -> throw new AssertionError();
        }
        if (last) {
            throw new DeviceGoneException(request + ": the power was cut");
        }
    }

    private void load(long lba, MemorySegment buffer) {
        MemorySegment there = MemorySegment.ofArray(medium).asSlice(lba * BLOCK_BYTES,
                buffer.byteSize());
        buffer.copyFrom(there);
        for (long at = 0; at < buffer.byteSize(); at += BLOCK_BYTES) {
            List<byte[]> contents = cache.get(lba + at / BLOCK_BYTES);
            if (contents != null) {
                buffer.asSlice(at, BLOCK_BYTES)
                        .copyFrom(MemorySegment.ofArray(contents.getLast()));
            }
        }
    }

    private void store(BlockRequest request, boolean isLast) {
        for (long i = 0; i < request.blockCount(); i++) {
            if (isLast && random.nextBoolean()) {
                continue;
            }
            byte[] content = new byte[BLOCK_BYTES];
            MemorySegment.ofArray(content)
                    .copyFrom(request.buffer().asSlice(i * BLOCK_BYTES, BLOCK_BYTES));
            long lba = request.lba() + i;
            if (request.fua() && !isLast) {
                cache.remove(lba);
                System.arraycopy(content, 0, medium, (int) (lba * BLOCK_BYTES), BLOCK_BYTES);
            } else {
                cache.computeIfAbsent(lba, _ -> new ArrayList<>()).add(content);
            }
        }
    }

    private void stabilize() {
        cache.forEach((lba, contents) -> System.arraycopy(contents.getLast(), 0, medium,
                (int) (lba * BLOCK_BYTES), BLOCK_BYTES));
        cache.clear();
    }

    @Override
    public void submit(BlockRequest request) {
        synchronized (this) {
            if (!closed) {
                queue.add(request);
                if (worker == null) {
                    worker = Thread.ofVirtual().name("power-cut device").start(this::run);
                }
                return;
            }
        }
        RequestCompletion.fail(request,
                new DeviceGoneException(request + ": the device is closed"));
    }

    private void run() {
        while (true) {
            BlockRequest next;
            synchronized (this) {
                if (queue.isEmpty()) {
                    worker = null;
                    return;
                }
                next = queue.remove(random.nextInt(queue.size()));
            }
            RequestCompletion.executeAndComplete(next, this);
        }
    }

    @Override
    public void close() {
        Thread last;
        synchronized (this) {
            closed = true;
            last = worker;
        }
        if (last != null && !Thread.currentThread().equals(last)) {
            try {
                last.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public String toString() { return "power-cut device"; }
}
