package lunar.raid;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import lunar.block.AbortedException;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.BusyException;
import lunar.block.Capability;
import lunar.block.DeadlineException;
import lunar.block.DeviceGoneException;
import lunar.block.Geometry;
import lunar.block.Identity;
import lunar.block.Limits;
import lunar.block.MediumException;
import lunar.block.StorageException;

/**
 * A member whose requests have their effect, and end, when the simulation says so, and as its seed wants. It has a
 * volatile cache: after a crash each block that was not flushed is any of what was written since. For one thread.
 */
final class SimMember implements BlockDevice {
    static final int BLOCK_BYTES = 512;
    private static final int MAX_RETRIES = 2;

    private final int number;
    private final int cleanBlocks;
    private final Random random;
    private final byte[] medium;
    /** Contents since the last flush, by block, the latest last. */
    private final Map<Long, List<byte[]>> cache = new HashMap<>();
    private final BitSet bad = new BitSet();
    private final List<BlockRequest> pending = new ArrayList<>();
    private final Map<BlockRequest, Integer> refused = new IdentityHashMap<>();
    private final int maxTransferBlocks;
    boolean isGone;
    boolean isStalled;
    /** A write has failed, so the volume will give it up. */
    boolean isTorn;
    private boolean closed;

    /**
     * A member of rubbish, but for the first blocks.
     *
     * @param cleanBlocks blocks of zeroes, requests to which need not be sent again
     */
    SimMember(int number, int cleanBlocks, int blocks, Random random) {
        this.number = number;
        this.cleanBlocks = cleanBlocks;
        this.random = random;
        medium = new byte[blocks * BLOCK_BYTES];
        var rubbish = new byte[(blocks - cleanBlocks) * BLOCK_BYTES];
        random.nextBytes(rubbish);
        System.arraycopy(rubbish, 0, medium, cleanBlocks * BLOCK_BYTES, rubbish.length);
        maxTransferBlocks = random.nextBoolean() ? 256 : cleanBlocks == 0 ? 5 : 61;
    }

    private SimMember(SimMember before) {
        number = before.number;
        cleanBlocks = before.cleanBlocks;
        random = before.random;
        medium = before.medium.clone();
        maxTransferBlocks = before.maxTransferBlocks;
        bad.or(before.bad);
        before.cache.forEach((block, contents) -> cache.put(block, new ArrayList<>(contents)));
        isGone = before.isGone || before.isStalled;
        for (BlockRequest request : before.pending) { // any part of what was under way may have happened
            if (request.operation() != Operation.READ && request.operation() != Operation.FLUSH) {
                for (long i = 0; i < request.blockCount(); i++) {
                    if (random.nextBoolean()) {
                        put(request, i, true);
                    }
                }
            }
        }
        cache.forEach((block, contents) -> {
            int which = random.nextInt(contents.size() + 1);
            if (which < contents.size()) {
                System.arraycopy(contents.get(which), 0, medium, (int) (block * BLOCK_BYTES),
                        BLOCK_BYTES);
                bad.clear((int) (long) block);
            }
        });
        cache.clear();
    }

    /** What is left of it after a crash that happens now; this one is as it was. */
    SimMember afterCrash() {
        return new SimMember(this);
    }

    void zero() { Arrays.fill(medium, cleanBlocks * BLOCK_BYTES, medium.length, (byte) 0); }

    // --- what the simulation does ---

    boolean hasPending() { return !pending.isEmpty() && !isStalled; }

    /** Blocks that cannot be read, or may not be after a crash. */
    BitSet bad() { return bad; }

    /** Blocks that cannot be read until they are written. */
    void spoil(int from, int end) {
        bad.set(from, end);
        for (long block = from; block < end; block++) {
            cache.remove(block);
        }
        var rubbish = new byte[(end - from) * BLOCK_BYTES];
        random.nextBytes(rubbish);
        System.arraycopy(rubbish, 0, medium, from * BLOCK_BYTES, rubbish.length);
    }

    /** Ends one request. */
    void proceed(boolean isFaulty) {
        BlockRequest request = pending.remove(random.nextInt(Math.min(4, pending.size())));
        if (isGone || closed) {
            request.fail(new DeviceGoneException(this + ": gone"));
            return;
        }
        int before = refused.getOrDefault(request, 0);
        if (isFaulty && mayBeSentAgain(request) && before < MAX_RETRIES
                && random.nextInt(12) == 0) {
            refused.put(request, before + 1);
            request.fail(switch (random.nextInt(3)) {
                case 0 -> new BusyException(this + ": busy");
                case 1 -> new AbortedException(this + ": aborted");
                default -> {
                    if (random.nextBoolean() && request.operation() == Operation.WRITE) {
                        store(request, request.blockCount());
                    }
                    yield new DeadlineException(this + ": late");
                }
            });
            return;
        }
        refused.remove(request);
        request.completeOn(this);
    }

    private boolean mayBeSentAgain(BlockRequest request) {
        return cleanBlocks == 0
                || (request.operation() != Operation.FLUSH && request.lba() >= cleanBlocks);
    }

    /** One write has a part of its effect and fails; false where none is pending. */
    boolean tear() {
        for (BlockRequest request : List.copyOf(pending)) {
            if (request.operation() == Operation.WRITE) {
                pending.remove(request);
                store(request, random.nextLong(request.blockCount() + 1));
                isTorn = true;
                request.fail(new MediumException(this + ": torn"));
                return true;
            }
        }
        return false;
    }

    // --- a device ---

    @Override
    public Geometry geometry() { return Geometry.of(BLOCK_BYTES, medium.length / BLOCK_BYTES); }

    @Override
    public Limits limits() {
        return new Limits(maxTransferBlocks, maxTransferBlocks, 256, 256, 0, 32, 1);
    }

    @Override
    public Set<Capability> capabilities() {
        return Set.of(Capability.UNMAP, Capability.WRITE_ZEROES);
    }

    @Override
    public Identity identity() { return Identity.of("sim", new UUID(0, number)); }

    @Override
    public boolean readOnly() { return false; }

    @Override
    public void submit(BlockRequest request) {
        if (closed) {
            request.fail(new DeviceGoneException(this + ": closed"));
        } else {
            pending.add(request);
        }
    }

    @Override
    public void execute(BlockRequest request) throws StorageException {
        request.check(this);
        switch (request.operation()) {
            case READ -> load(request);
            case FLUSH -> {
                cache.forEach((block, contents) -> System.arraycopy(contents.getLast(), 0,
                        medium, (int) (block * BLOCK_BYTES), BLOCK_BYTES));
                cache.keySet().forEach(block -> bad.clear((int) (long) block));
                cache.clear();
            }
            case WRITE, UNMAP, WRITE_ZEROES -> store(request, request.blockCount());
            case COMPARE_AND_WRITE -> throw new AssertionError(request);
        }
    }

    private void load(BlockRequest request) throws StorageException {
        for (int i = 0; i < request.blockCount(); i++) {
            long block = request.lba() + i;
            if (bad.get((int) block) && !cache.containsKey(block)) {
                throw new MediumException(this + ": block " + block + " is bad");
            }
            request.buffer().asSlice((long) i * BLOCK_BYTES, BLOCK_BYTES)
                    .copyFrom(MemorySegment.ofArray(block(request.lba() + i)));
        }
    }

    /** What a block reads as. */
    byte[] block(long block) {
        List<byte[]> contents = cache.get(block);
        if (contents != null) {
            return contents.getLast();
        }
        var content = new byte[BLOCK_BYTES];
        System.arraycopy(medium, (int) (block * BLOCK_BYTES), content, 0, BLOCK_BYTES);
        return content;
    }

    private void store(BlockRequest request, long blocks) {
        for (long i = 0; i < blocks; i++) {
            put(request, i, false);
        }
    }

    private void put(BlockRequest request, long i, boolean isLost) {
        long block = request.lba() + i;
        var content = new byte[BLOCK_BYTES];
        if (request.operation() == Operation.WRITE) {
            MemorySegment.ofArray(content)
                    .copyFrom(request.buffer().asSlice(i * BLOCK_BYTES, BLOCK_BYTES));
        }
        if (request.fua() && !isLost) {
            bad.clear((int) block);
            cache.remove(block);
            System.arraycopy(content, 0, medium, (int) (block * BLOCK_BYTES), BLOCK_BYTES);
        } else {
            cache.computeIfAbsent(block, _ -> new ArrayList<>()).add(content);
        }
    }

    @Override
    public void close() {
        closed = true;
        while (!pending.isEmpty()) {
            pending.removeFirst().fail(new DeviceGoneException(this + ": closed"));
        }
    }

    @Override
    public String toString() { return "member " + number; }
}
