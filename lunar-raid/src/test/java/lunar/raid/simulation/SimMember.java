package lunar.raid.simulation;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.random.RandomGenerator;
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
import lunar.block.LostWritesException;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.block.spi.RequestValidation;
import lunar.raid.simulation.EventCounts.Event;
import org.jspecify.annotations.Nullable;

/**
 * A member whose requests have their effect, and end, when the simulation says so, and as its seed wants. It has a
 * volatile cache: after a crash each block that was not flushed is any of what was written since. For one thread.
 *
 * <p>Contents of blocks never change, they are replaced: so a member and what a crash leaves of it share them.
 */
final class SimMember implements BlockDevice {
    static final int BLOCK_BYTES = 512;
    private static final int MAX_RETRIES = 2;
    /** Of {@link #MAX_RETRIES} and more: one request in so many has to be sent again. */
    private static final int REFUSAL_ODDS = 12;
    private static final int LONG_TRANSFER = 256;
    private static final byte[] ZEROES = new byte[BLOCK_BYTES];

    /** The power went off in the middle of a request that is waited for. */
    static final class PowerCut extends RuntimeException {
        private static final long serialVersionUID = 1;

        private PowerCut() { super("power cut", null, false, false); }
    }

    /**
     * What a request asks for. It is sent again as another object, if a layer above the member has objects of its own.
     * Requests without data that are equal may be different commands at the same time.
     *
     * @param base array of the buffer; null if there is none
     * @param flush the request itself, if it is a flush
     */
    private record Command(Operation operation, long lba, long blocks, @Nullable Object base,
            long address, @Nullable BlockRequest flush) {
        static Command of(BlockRequest request) {
            MemorySegment buffer = request.operation() == Operation.READ
                    || request.operation() == Operation.WRITE
                            ? request.buffer()
                            : MemorySegment.NULL;
            return new Command(request.operation(), request.lba(), request.blockCount(),
                    buffer.heapBase().orElse(null), buffer.address(),
                    request.operation() == Operation.FLUSH ? request : null);
        }

        boolean isUnique() {
            return operation != Operation.UNMAP && operation != Operation.WRITE_ZEROES;
        }
    }

    private final int number;
    private final int cleanBlocks;
    private final RandomGenerator random;
    private final EventCounts tally;
    private final byte[][] medium;
    /** Contents since the last flush, by block, the latest last. */
    private final Map<Integer, List<byte[]>> cache = new HashMap<>();
    private final BitSet bad = new BitSet();
    /** Of the bad ones those that can be read, and are wrong. */
    private final BitSet rotten = new BitSet();
    /** All that have been bad since the last start. */
    private final BitSet everBad = new BitSet();
    private final List<BlockRequest> pending = new ArrayList<>();
    /** How often commands were refused that have not been performed since; if not unique, or more often. */
    private final Map<Command, Integer> refused = new HashMap<>();
    /** Of flushes that are pending, which losses had been reported when they were submitted. */
    private final Map<BlockRequest, Long> flushes = new IdentityHashMap<>();
    /** How often the cache was lost while the device was open, and how many of these a flush has reported. */
    private long losses;
    private long reported;
    /** Writes that have failed, and may have their effect all the same. */
    private final List<BlockRequest> late = new ArrayList<>();
    private final Limits limits;
    boolean isGone;
    boolean isStalled;
    /** A write has failed, so the volume will give it up. */
    boolean isTorn;
    /** It has lost its cache, and is to be given up for that. */
    boolean isLossy;
    /** Requests that it is too busy for. */
    private int busyFor;
    /** Whether it has taken a request since it was busy. */
    private boolean hasTaken = true;
    /** Requests that are waited for until the power goes off; -1 where it does not. */
    int cutAfter = -1;
    private boolean closed;

    /**
     * A member of rubbish, but for the first blocks.
     *
     * @param cleanBlocks blocks of zeroes, requests to which need not be sent again
     */
    SimMember(int number, int cleanBlocks, int blocks, RandomGenerator random, EventCounts tally) {
        this.number = number;
        this.cleanBlocks = cleanBlocks;
        this.random = random;
        this.tally = tally;
        medium = new byte[blocks][];
        Arrays.fill(medium, 0, cleanBlocks, ZEROES);
        for (int block = cleanBlocks; block < blocks; block++) {
            medium[block] = rubbish();
        }
        int most = random.nextBoolean() ? LONG_TRANSFER : cleanBlocks == 0 ? 5 : 61;
        limits = new Limits(most, most, LONG_TRANSFER, LONG_TRANSFER, 0, 32, 1);
    }

    private SimMember(SimMember before) {
        number = before.number;
        cleanBlocks = before.cleanBlocks;
        random = before.random;
        tally = before.tally;
        medium = before.medium.clone();
        limits = before.limits;
        bad.or(before.bad);
        rotten.or(before.rotten);
        everBad.or(bad);
        before.cache.forEach((block, contents) -> cache.put(block, new ArrayList<>(contents)));
        isGone = before.isGone || before.isStalled;
        for (BlockRequest request : before.pending) { // any part of what was under way may have happened
            if (request.operation() != Operation.READ && request.operation() != Operation.FLUSH) {
                storeSome(request);
            }
        }
        dropCache();
    }

    private byte[] rubbish() {
        var rubbish = new byte[BLOCK_BYTES];
        long some = random.nextLong();
        for (int at = 0; at < BLOCK_BYTES; at++) {
            rubbish[at] = (byte) (some >> (at & 56) ^ at * 31);
        }
        return rubbish;
    }

    /** Returns the member as a crash now leaves it; this one is unchanged. */
    SimMember afterCrash() {
        return new SimMember(this);
    }

    void zero() { Arrays.fill(medium, cleanBlocks, medium.length, ZEROES); }

    // --- what the simulation does ---

    boolean hasPending() { return !pending.isEmpty() && !isStalled; }

    /** Blocks that cannot be read, or may not be after a crash. */
    BitSet bad() { return bad; }

    /** Blocks that cannot be read until they are written. */
    void spoil(int from, int end) {
        rotten.clear(from, end);
        bad.set(from, end);
        everBad.set(from, end);
        for (int block = from; block < end; block++) {
            cache.remove(block);
            medium[block] = rubbish();
        }
    }

    /** Whether one of some blocks could not be read some time, or read as something else. */
    boolean hasBeenBad(int from, int end) {
        int first = everBad.nextSetBit(from);
        return first >= 0 && first < end;
    }

    /** Blocks that read as something else from now on, until they are written. */
    void rot(int from, int end) {
        spoil(from, end);
        rotten.set(from, end);
    }

    /** Whether there may be a block that reads as something else than was written. */
    boolean isRotten() {
        return rotten.intersects(bad);
    }

    /** Loses what is in its cache, as by a short power failure; false where there is nothing. */
    boolean loseCache() {
        if (cache.isEmpty()) {
            return false;
        }
        dropCache();
        losses++;
        isLossy = true;
        return true;
    }

    private void dropCache() {
        cache.forEach((block, contents) -> {
            int which = random.nextInt(contents.size() + 1);
            if (which < contents.size()) {
                medium[block] = contents.get(which);
                bad.clear(block);
            }
        });
        cache.clear();
    }

    /** It is opened anew: what it has lost before is not reported any more. */
    void reopen() {
        reported = losses;
        isLossy = false;
    }

    /** Opening it anew ensures that nothing sent before has an effect any more. */
    void fence() {
        late.clear();
    }

    /** A write that has failed has its effect nevertheless; false if there is none. */
    boolean landLate() {
        if (late.isEmpty()) {
            return false;
        }
        BlockRequest landed = late.removeFirst();
        store(landed, landed.blockCount());
        return true;
    }

    /** It cannot be reached any more; some writes under way may still reach it. */
    void cutOff() {
        for (BlockRequest request : pending) {
            if (request.operation() == Operation.WRITE && request.lba() >= cleanBlocks
                    && random.nextBoolean()) {
                MemorySegment copy = MemorySegment.ofArray(
                        new byte[(int) request.blockCount() * BLOCK_BYTES]);
                MemorySegment.copy(request.buffer(), 0, copy, 0, copy.byteSize());
                late.add(new BlockRequest().asWrite(request.lba(), request.blockCount(), copy,
                        request.fua()));
            }
        }
    }

    /** It refuses so many requests, unless it has only just done so: busy for too long is failed. */
    void makeBusy(int requests) {
        if (hasTaken) {
            hasTaken = false;
            busyFor = requests;
        }
    }

    /** Ends one request. */
    void proceed() {
        BlockRequest request = pending.remove(random.nextInt(Math.min(4, pending.size())));
        if (isGone || closed) {
            RequestCompletion.fail(request, new DeviceGoneException(this + ": gone"));
        } else if (busyFor > 0 && mayBeSentAgain(request)) {
            busyFor--;
            tally.count(Event.MEMBER_BUSY);
            RequestCompletion.fail(request, new BusyException(this + ": busy"));
        } else if (mayBeSentAgain(request) && random.nextInt(REFUSAL_ODDS) == 0
                && refused.merge(Command.of(request), 1, Integer::sum) <= MAX_RETRIES) {
            tally.count(Event.SENT_AGAIN);
            RequestCompletion.fail(request, refusal(request));
        } else {
            Command command = Command.of(request);
            if (command.isUnique()) {
                refused.remove(command);
            }
            hasTaken |= mayBeSentAgain(request);
            long loss = losses;
            boolean reports = request.operation() == Operation.FLUSH && isToReport(request);
            RequestCompletion.executeAndComplete(request, this);
            flushes.remove(request);
            reported = reports ? Math.max(reported, loss) : reported;
        }
    }

    private boolean isToReport(BlockRequest flush) {
        return losses > flushes.getOrDefault(flush, reported);
    }

    private StorageException refusal(BlockRequest request) {
        return switch (random.nextInt(3)) {
            case 0, 1 -> new AbortedException(this + ": aborted");
            default -> {
                if (random.nextBoolean() && request.operation() == Operation.WRITE) {
                    tally.count(Event.LATE_WRITE);
                    store(request, request.blockCount());
                }
                yield new DeadlineException(this + ": late");
            }
        };
    }

    private boolean mayBeSentAgain(BlockRequest request) {
        return cleanBlocks == 0
                || (request.operation() != Operation.FLUSH && request.lba() >= cleanBlocks);
    }

    /** A write has a part of its effect and fails; false if none is pending. */
    boolean tear() {
        for (BlockRequest request : List.copyOf(pending)) {
            if (request.operation() == Operation.WRITE) {
                tally.count(Event.TORN_WRITE);
                pending.remove(request);
                store(request, random.nextLong(request.blockCount() + 1));
                isTorn = true;
                RequestCompletion.fail(request, new MediumException(this + ": torn"));
                return true;
            }
        }
        return false;
    }

    // --- a device ---

    @Override
    public Geometry geometry() { return Geometry.of(BLOCK_BYTES, medium.length); }

    @Override
    public Limits limits() { return limits; }

    @Override
    public Set<Capability> capabilities() {
        return Set.of(Capability.UNMAP, Capability.UNMAP_ZEROES, Capability.WRITE_ZEROES);
    }

    @Override
    public Identity identity() { return Identity.of("sim", new UUID(0, number)); }

    @Override
    public boolean readOnly() { return false; }

    @Override
    public long writeLosses() { return losses; }

    @Override
    public void submit(BlockRequest request) {
        if (closed) {
            RequestCompletion.fail(request, new DeviceGoneException(this + ": closed"));
        } else {
            pending.add(request);
            if (request.operation() == Operation.FLUSH) {
                flushes.put(request, reported);
            }
        }
    }

    @Override
    public void execute(BlockRequest request) throws StorageException {
        RequestValidation.check(request, this);
        if (cutAfter == 0) {
            if (request.operation() == Operation.WRITE) {
                storeSome(request);
            }
            throw new PowerCut();
        }
        cutAfter -= cutAfter > 0 ? 1 : 0;
        switch (request.operation()) {
            case READ -> load(request);
            case FLUSH -> {
                cache.forEach((block, contents) -> {
                    medium[block] = contents.getLast();
                    bad.clear(block);
                });
                cache.clear();
                if (isToReport(request)) {
                    throw new LostWritesException(this + ": its cache was lost");
                }
            }
            case WRITE, UNMAP, WRITE_ZEROES -> store(request, request.blockCount());
            case COMPARE_AND_WRITE -> throw new AssertionError(request);
        }
    }

    private void load(BlockRequest request) throws StorageException {
        int first = (int) request.lba();
        for (int i = 0; i < request.blockCount(); i++) {
            if (bad.get(first + i) && !rotten.get(first + i) && !cache.containsKey(first + i)) {
                throw new MediumException(this + ": block " + (first + i) + " is bad");
            }
            MemorySegment.copy(block(first + i), 0, request.buffer(), ValueLayout.JAVA_BYTE,
                    (long) i * BLOCK_BYTES, BLOCK_BYTES);
        }
    }

    /** The content of a block; not to be changed. */
    byte[] block(int block) {
        List<byte[]> contents = cache.isEmpty() ? null : cache.get(block);
        return contents == null ? medium[block] : contents.getLast();
    }

    private void store(BlockRequest request, long blocks) {
        for (int i = 0; i < blocks; i++) {
            put(request, i, request.fua());
        }
    }

    /** Some blocks of a request that the power has cut off. */
    private void storeSome(BlockRequest request) {
        int stored = 0;
        for (int i = 0; i < request.blockCount(); i++) {
            if (random.nextBoolean()) {
                put(request, i, false);
                stored++;
            }
        }
        if (stored > 0 && stored < request.blockCount()) {
            tally.count(Event.TORN_BY_CRASH);
        }
    }

    private void put(BlockRequest request, int i, boolean isStable) {
        int block = (int) request.lba() + i;
        byte[] content = content(request, i);
        if (isStable) {
            bad.clear(block);
            cache.remove(block);
            medium[block] = content;
        } else {
            cache.computeIfAbsent(block, _ -> new ArrayList<>(2)).add(content);
        }
    }

    private static byte[] content(BlockRequest request, int i) {
        @Nullable
        MemorySegment data = request.operation() == Operation.WRITE
                ? request.buffer()
                : null;
        if (data == null) {
            return ZEROES;
        }
        var content = new byte[BLOCK_BYTES];
        MemorySegment.copy(data, ValueLayout.JAVA_BYTE, (long) i * BLOCK_BYTES, content, 0,
                BLOCK_BYTES);
        return content;
    }

    @Override
    public void close() {
        closed = true;
        while (!pending.isEmpty()) {
            RequestCompletion.fail(pending.removeFirst(),
                    new DeviceGoneException(this + ": closed"));
        }
    }

    @Override
    public String toString() { return "member " + number; }
}
