package lunar.raid.simulation;

import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.MediumException;
import lunar.block.MiscompareException;
import lunar.block.StorageException;
import lunar.raid.simulation.EventCounts.Event;
import org.jspecify.annotations.Nullable;

/** A host that writes to the volume, and knows what must read back. */
final class SimHost {
    private static final int MAX_OPEN = 12;
    private static final int READ_ALL_BLOCKS = 16;
    /** Added to what a block is, to have what it is not. */
    private static final long NOT = 1_000_000;

    private final SimWorld world;
    private final SimVolume sim;
    private final Expectation expected;
    private final ExcessLossCheck beyond;
    private final int blocks;
    /** Blocks that a crash has left without content, until they are written again. */
    private final BitSet unreadable = new BitSet();
    private int open;
    private long lastTag;

    SimHost(SimWorld world, SimVolume sim, ExcessLossCheck beyond) {
        this.world = world;
        this.sim = sim;
        this.beyond = beyond;
        blocks = (int) world.layout.volumeBlocks();
        expected = new Expectation(blocks);
    }

    /** Requests that have not ended. */
    int open() { return open; }

    boolean mayAsk() { return open < MAX_OPEN; }

    /** A request of any kind. */
    void request() {
        int from = world.random.nextInt(blocks);
        int longest = blocks - from;
        int count = 1 + world.random.nextInt(world.random.nextInt(3) == 0
                ? longest
                : Math.min(longest, SimWorld.CHUNK_BLOCKS));
        switch (world.random.nextInt(20)) {
            case 0 -> flush();
            case 1 -> zero(from, count, Operation.UNMAP);
            case 2 -> zero(from, count, Operation.WRITE_ZEROES);
            case 3 -> compareAndWrite(from,
                    Math.min(count, sim.volume().limits().maxCompareAndWriteBlocks()));
            case 4, 5, 6, 7, 8, 9 -> read(from, count);
            default -> write(from, count);
        }
    }

    private static MemorySegment data(int blocks) {
        return MemorySegment.ofArray(new byte[blocks * SimMember.BLOCK_BYTES]);
    }

    private interface End {
        void ended(@Nullable StorageException failure);
    }

    private void submit(char what, BlockRequest request, End end) {
        open++;
        int mine = world.incarnation;
        sim.volume().submit(request.onCompletion((_, failure) -> {
            if (mine == world.incarnation) { // else it was under way when the lights went out
                open--;
                world.tally.count(Event.REQUEST);
                world.log.append(what).append(failure == null ? '.' : '!');
                end.ended(failure);
            }
        }));
    }

    /** False where it has failed, and may have, since the volume has altogether. */
    private boolean isGood(String what, @Nullable StorageException failure) {
        if (failure == null) {
            return true;
        }
        if (sim.volume().state().serving() || !world.isCollapsing) {
            throw world.failure(what + " failed", failure);
        }
        world.tally.count(Event.REFUSED);
        return false;
    }

    /**
     * Whether a change of some blocks may end so, since too much of their stripes was lost at some time since a moment.
     */
    private boolean mayRefuse(int from, int count, long since, @Nullable StorageException failure) {
        if (!(failure instanceof MediumException)) {
            return false;
        }
        beyond.update();
        return beyond.hasBeenInStripesOf(from, count, since);
    }

    private void read(int from, int count) {
        MemorySegment data = data(count);
        long since = beyond.now();
        Expectation.Access access = expected.beginRead(from, count);
        // A write may bring blocks back meanwhile: too late for a read that has met them already.
        int lost = unreadable.nextSetBit(from);
        boolean mayFail = lost >= 0 && lost < from + count;
        submit('R', new BlockRequest().asRead(from, count, data), failure -> {
            if (failure instanceof MediumException) {
                beyond.update();
                if (mayFail || beyond.hasBeenIn(from, count, since)) {
                    world.tally.count(Event.LOST_READ);
                    expected.dropRead(access);
                    return;
                }
            }
            if (!isGood("a read", failure)) {
                expected.dropRead(access);
                return;
            }
            String wrong = expected.endRead(access, data);
            if (wrong != null) {
                throw world.failure(wrong);
            }
            world.tally.count(Event.BLOCK_CHECKED, count);
        });
    }

    private void write(int from, int count) {
        long tag = ++lastTag;
        boolean fua = world.random.nextInt(5) == 0;
        long since = beyond.now();
        Expectation.Access access = expected.beginWrite(from, count, tag);
        submit('W', new BlockRequest().asWrite(from, count, Expectation.fill(data(count), tag),
                fua), failure -> {
                    boolean isGood = !mayRefuse(from, count, since, failure)
                            && isGood("a write", failure);
                    expected.endWrite(access, isGood, fua);
                    if (isGood) {
                        haveContent(from, count, since);
                    }
                });
    }

    private void haveContent(int from, int count, long since) {
        unreadable.clear(from, from + count);
        beyond.written(from, count, since);
    }

    private void zero(int from, int count, Operation operation) {
        long since = beyond.now();
        Expectation.Access access = expected.beginWrite(from, count, 0);
        BlockRequest request = operation == Operation.UNMAP
                ? new BlockRequest().asUnmap(from, count)
                : new BlockRequest().asWriteZeroes(from, count, false);
        submit('Z', request, failure -> {
            boolean isGood = !mayRefuse(from, count, since, failure)
                    && isGood("zeroing", failure);
            if (isGood) {
                haveContent(from, count, since);
            }
            expected.endWrite(access, isGood, false);
        });
    }

    private void compareAndWrite(int from, int count) {
        long known = expected.known(from, count);
        if (known < 0) {
            return;
        }
        boolean differs = world.random.nextInt(3) == 0;
        long tag = ++lastTag;
        MemorySegment data = data(2 * count);
        long half = data.byteSize() / 2;
        Expectation.fill(data.asSlice(0, half), differs ? known + NOT : known);
        Expectation.fill(data.asSlice(half), tag);
        long since = beyond.now();
        Expectation.Access access = expected.beginWrite(from, count, tag);
        submit('A', new BlockRequest().asCompareAndWrite(from, count, data, false), failure -> {
            if (mayRefuse(from, count, since, failure)
                    || (failure != null && !(failure instanceof MiscompareException)
                            && !isGood("a compare-and-write", failure))) {
                expected.endWrite(access, false, false);
            } else if (differs || failure != null) { // or another write was faster
                world.tally.count(Event.MISCOMPARE);
                world.require(failure instanceof MiscompareException,
                        "a compare-and-write ended with " + failure);
                expected.endWrite(access, false, false);
            } else {
                expected.endWrite(access, true, false);
            }
        });
    }

    void flush() {
        Expectation.Access access = expected.beginFlush();
        long since = beyond.now();
        submit('F', new BlockRequest().asFlush(), failure -> {
            if (isGood("a flush", failure)) {
                expected.endFlush(access);
                beyond.flushed(since);
            } else {
                expected.dropRead(access);
            }
        });
    }

    void readAll() {
        for (int from = 0; from < blocks; from += READ_ALL_BLOCKS) {
            read(from, Math.min(READ_ALL_BLOCKS, blocks - from));
        }
    }

    /** Writes whole stripes wherever more was lost than the level survives: nothing has to be read for that. */
    void writeStripesBeyondPromise() {
        int stripe = world.layout.stripeBlocks();
        for (int block = beyond.next(0); block >= 0;) {
            int from = block / stripe * stripe;
            write(from, stripe);
            block = beyond.next(from + stripe);
        }
    }

    // --- crashes ---

    /** Requests in flight are lost; flushed writes count. */
    void crash() {
        expected.crash();
        open = 0;
    }

    /** After a crash: what it has taken must have been under way, and is written again. */
    void rewriteLost() {
        unreadable.clear();
        for (int block = 0; block < blocks; block++) {
            if (sim.hasNoContent(block)) {
                world.require(expected.isUnsettled(block) || beyond.mayHaveNoContent(block),
                        "block " + block + " was stable, and has lost its content");
                unreadable.set(block);
            }
        }
        world.tally.count(Event.BLOCK_LOST, unreadable.cardinality());
        for (int block = unreadable.nextSetBit(0); block >= 0; block = unreadable
                .nextSetBit(block + 1)) {
            world.log.append('x');
            write(block, 1);
        }
    }
}
