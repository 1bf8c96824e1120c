package lunar.raid.metadata;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.Capability;
import lunar.block.DeviceGoneException;
import lunar.block.ForwardingDevice;
import lunar.block.LostWritesException;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.testkit.SteppedDevice;
import org.jspecify.annotations.Nullable;

/**
 * A disk with a volatile cache that it may lose while it is open, and with blocks that cannot get space. Requests are
 * done at once, or if it has a queue, when the test says so. For one thread.
 */
final class CachedDisk extends ForwardingDevice {
    private static final int BLOCK = SteppedDevice.BLOCK_BYTES;

    /** The power supply of some disks, which ends after a number of requests. */
    static final class Power {
        private int requestsLeft = Integer.MAX_VALUE;

        void cutAfter(int requests) { requestsLeft = requests; }

        boolean isOff() { return requestsLeft == 0; }
    }

    private final SteppedDevice medium;
    private final Power power;
    /** Contents since the last flush, by block, the latest last. */
    private final Map<Integer, List<byte[]>> cache = new HashMap<>();
    /** Blocks that cannot be written. */
    final BitSet without = new BitSet();
    /** Requests that wait; null if none does. */
    private @Nullable List<BlockRequest> queue;
    private long losses;
    private long reported;
    /** By flush that waits, the losses that had been reported when it came. */
    private final Map<BlockRequest, Long> flushes = new IdentityHashMap<>();

    CachedDisk(SteppedDevice medium, Power power) {
        super(medium);
        this.medium = medium;
        this.power = power;
    }

    /** From now on requests wait. */
    void hasQueue() { queue = new ArrayList<>(); }

    /** Another disk with what is stable here. */
    CachedDisk copy(Power of) {
        var copy = new SteppedDevice((int) medium.blockCount());
        copy.content().copyFrom(medium.content());
        return new CachedDisk(copy, of);
    }

    /** The disk after a crash of the machine and a loss of power; this one is not to be used any more. */
    CachedDisk afterCrash(@Nullable Random random, Power of) {
        for (BlockRequest request : queue == null ? List.<BlockRequest>of() : queue) {
            if (request.operation() == Operation.WRITE && random != null && random.nextBoolean()) {
                store(request);
            }
        }
        dropCache(random);
        return new CachedDisk(medium, of);
    }

    /** Loses what is in the cache; of each block any content may be there afterwards, without a random the first. */
    void loseCache(@Nullable Random random) {
        dropCache(random);
        losses++;
    }

    private void dropCache(@Nullable Random random) {
        cache.forEach((block, contents) -> {
            int which = random == null ? 0 : random.nextInt(contents.size() + 1);
            if (which > 0) {
                onMedium(block).copyFrom(MemorySegment.ofArray(contents.get(which - 1)));
            }
        });
        cache.clear();
    }

    private MemorySegment onMedium(int block) {
        return medium.content().asSlice((long) block * BLOCK, BLOCK);
    }

    /** Changes a block behind the back of everybody. */
    void rot(long block) {
        MemorySegment there = onMedium((int) block);
        there.set(ValueLayout.JAVA_BYTE, 3, (byte) ~there.get(ValueLayout.JAVA_BYTE, 3));
    }

    /** Does one of the waiting requests; false if there is none. */
    boolean step(Random random) {
        List<BlockRequest> waiting = queue;
        if (waiting == null || waiting.isEmpty()) {
            return false;
        }
        RequestCompletion.executeAndComplete(waiting.remove(random.nextInt(waiting.size())), this);
        return true;
    }

    @Override
    public Set<Capability> capabilities() {
        return Set.of(Capability.UNMAP, Capability.UNMAP_ZEROES, Capability.WRITE_ZEROES);
    }

    @Override
    public long writeLosses() { return losses; }

    @Override
    public void submit(BlockRequest request) {
        if (request.operation() == Operation.FLUSH) {
            flushes.put(request, reported);
        }
        if (queue == null) {
            RequestCompletion.executeAndComplete(request, this);
        } else {
            queue.add(request);
        }
    }

    @Override
    public void execute(BlockRequest request) throws StorageException {
        if (power.isOff()) {
            throw new DeviceGoneException(request + ": no power");
        }
        power.requestsLeft--;
        switch (request.operation()) {
            case READ -> {
                medium.execute(request);
                overlay(request);
            }
            case FLUSH -> flush(request);
            case WRITE, UNMAP, WRITE_ZEROES -> {
                int next = without.nextSetBit((int) request.lba());
                if (next >= 0 && next < request.lba() + request.blockCount()) {
                    throw new NoSpaceException(request + ": no space");
                }
                store(request);
            }
            case COMPARE_AND_WRITE -> throw new AssertionError(request);
        }
    }

    private void overlay(BlockRequest read) {
        for (int i = 0; i < read.blockCount(); i++) {
            List<byte[]> contents = cache.get((int) read.lba() + i);
            if (contents != null) {
                read.buffer().asSlice((long) i * BLOCK, BLOCK)
                        .copyFrom(MemorySegment.ofArray(contents.getLast()));
            }
        }
    }

    private void flush(BlockRequest flush) throws StorageException {
        cache.forEach((block, contents) -> onMedium(block)
                .copyFrom(MemorySegment.ofArray(contents.getLast())));
        cache.clear();
        Long known = flushes.remove(flush);
        if (losses > (known == null ? reported : known)) {
            reported = losses;
            throw new LostWritesException(flush + ": the cache was lost");
        }
    }

    private void store(BlockRequest request) {
        for (int i = 0; i < request.blockCount(); i++) {
            byte[] content = request.operation() == Operation.WRITE
                    ? request.buffer().asSlice((long) i * BLOCK, BLOCK)
                            .toArray(ValueLayout.JAVA_BYTE)
                    : new byte[BLOCK];
            int block = (int) request.lba() + i;
            if (request.fua()) {
                cache.remove(block);
                onMedium(block).copyFrom(MemorySegment.ofArray(content));
            } else {
                cache.computeIfAbsent(block, _ -> new ArrayList<>()).add(content);
            }
        }
    }
}
