package lunar.it.faults;

import java.util.Arrays;

/**
 * History of acknowledged and flushed writes to each block of a device, which determines what a read may return: the
 * last acknowledged write, or a later one that is in flight or whose outcome is unknown. An older one is a lost write.
 *
 * <p>A block has one write in flight at a time; its writes are numbered from 1, and 0 stands for what was there before.
 * Where a device has a volatile cache that is dropped ({@link #cacheDrops}), reads may return anything from the last
 * durable write on until a flush succeeds, which vouches for all writes that were acknowledged before it began, or
 * reports the loss.
 *
 * <p>Thread-safe.
 */
final class BlockHistory {
    /** A write that is in flight: its number, and how many cache drops and flushes had begun before it. */
    record Write(int block, long number, int drops, long flushes) {}

    /**
     * A read that is in flight.
     *
     * @param floors the oldest write of each block that it may return
     * @param afterDrop the same if a cache is dropped meanwhile: the read may be executed after that
     * @param drops how many cache drops had begun before it
     */
    record Read(int first, long[] floors, long[] afterDrop, int drops) {}

    /** A flush that is in flight: the writes that it makes stable, and how many drops and reports came before it. */
    record Flush(long[] vouched, int drops, int reports) {}

    /** Thrown where a read returns what it may not. */
    static final class LostWriteException extends RuntimeException {
        private static final long serialVersionUID = 1;

        LostWriteException(String message) { super(message); }
    }

    private final long[] begun;
    private final long[] acknowledged;
    /** Like {@code acknowledged}, of writes during which no flush began: one could have been sent after the write. */
    private final long[] unflushed;
    private final long[] durable;
    /** The oldest write that a read may return. */
    private final long[] floor;
    /** Like {@code durable}, and all that flushes have vouched for that had others beside them. */
    private final long[] perhapsDurable;
    /** Acknowledged when the only copy of them was dropped, until that is reported; null for none. */
    private long[] gone;
    private int drops;
    private int reports;
    private long flushes;
    private int flushing;
    /** Writes with FUA in flight. */
    private int through;
    /** Whether a cache was dropped since the last flush that certainly was told of no loss. */
    private boolean suspect;
    private int lost;

    BlockHistory(int blocks) {
        begun = new long[blocks];
        acknowledged = new long[blocks];
        unflushed = new long[blocks];
        durable = new long[blocks];
        floor = new long[blocks];
        perhapsDurable = new long[blocks];
    }

    int blocks() { return begun.length; }

    /** Begins the next write of a block. */
    synchronized Write begin(int block) {
        return new Write(block, ++begun[block], drops, flushes);
    }

    /**
     * A write was acknowledged. It does not count where a cache drop began since it was sent: the acknowledgement may
     * be older than the drop.
     *
     * @param fua whether it is durable by that
     */
    synchronized void acknowledged(Write write, boolean fua) {
        if (!fua && write.drops() != drops) {
            return;
        }
        int block = write.block();
        acknowledged[block] = write.number();
        if (write.flushes() == flushes) {
            unflushed[block] = write.number();
        }
        if (fua) {
            durable[block] = write.number();
            perhapsDurable[block] = write.number();
        }
        floor[block] = write.number();
    }

    /** Begins to read blocks. */
    synchronized Read beginRead(int first, int count) {
        return new Read(first, Arrays.copyOfRange(floor, first, first + count),
                Arrays.copyOfRange(durable, first, first + count), drops);
    }

    /** The oldest write of a block that a read may return, which has ended now. */
    synchronized long floor(Read read, int block) {
        return (read.drops() == drops ? read.floors() : read.afterDrop())[block - read.first()];
    }

    /** The latest write of a block that has begun. */
    synchronized long latest(int block) {
        return begun[block];
    }

    /**
     * Judges what a read returned.
     *
     * @param found the number of the write whose contents it returned
     * @throws LostWriteException where an acknowledged write is missing
     */
    synchronized void check(Read read, int block, long found) {
        long oldest = floor(read, block);
        if (found < oldest || found > begun[block]) {
            lost++;
            throw new LostWriteException("block " + block + " has "
                    + (found == Stamp.FOREIGN ? "contents of no write" : "write " + found)
                    + ", but write " + oldest + " was acknowledged before; durable "
                    + durable[block] + ", acknowledged " + acknowledged[block] + ", begun "
                    + begun[block]);
        }
    }

    /** A write with FUA is sent, which {@link #throughEnds} follows. */
    synchronized void throughBegins() {
        through++;
    }

    /** A write with FUA has succeeded or failed; called last. */
    synchronized void throughEnds() {
        through--;
    }

    /** A flush is sent, which {@link #flushEnds} and perhaps {@link #flushed} follow. */
    synchronized Flush flushBegins() {
        flushes++;
        flushing++;
        return new Flush(acknowledged.clone(), drops, reports);
    }

    /**
     * A flush has succeeded. It vouches for nothing where another one is in flight or has reported a loss since: a loss
     * is reported once, and flushes that are sent when a device has reported it succeed, also before the report of it
     * is heard here. After a drop, a write with FUA that is in flight may have the report, too.
     *
     * @throws LostWriteException where it had to report a loss
     */
    synchronized void flushed(Flush flush) {
        long[] vouched = flush.vouched();
        boolean isToldElsewhere = suspect && through > 0;
        if (flushing == 1 && flush.reports() == reports && !isToldElsewhere) {
            requireNothingGone(flush);
            suspect &= flush.drops() != drops;
            raise(durable, vouched);
            raise(floor, durable);
        }
        raise(perhapsDurable, vouched);
    }

    /** A flush has succeeded or failed; called last. */
    synchronized void flushEnds() {
        flushing--;
    }

    private void requireNothingGone(Flush flush) {
        if (gone == null || flush.drops() != drops) {
            return; // it may have been answered before the drop
        }
        for (int block = 0; block < gone.length; block++) {
            if (gone[block] > perhapsDurable[block]) {
                lost++;
                throw new LostWriteException("a flush succeeds although write " + gone[block]
                        + " of block " + block + " was in the cache that was dropped; durable "
                        + perhapsDurable[block]);
            }
        }
        gone = null;
    }

    private static void raise(long[] values, long[] to) {
        Arrays.setAll(values, block -> Math.max(values[block], to[block]));
    }

    /** A flush reported that acknowledged writes may be lost: blocks may have any write since the last durable one. */
    synchronized void lossReported() {
        gone = null;
        reports++;
        for (int block = 0; block < floor.length; block++) {
            floor[block] = durable[block];
            acknowledged[block] = durable[block];
            unflushed[block] = durable[block];
        }
        drops++; // writes in flight are not counted on
    }

    /** A volatile cache is about to be dropped: from now on only durable writes are counted on. */
    synchronized void cacheDrops() {
        drops++;
        suspect = true;
        System.arraycopy(durable, 0, floor, 0, floor.length);
    }

    /** The process that had the cache is gone, and what it acknowledged before has been heard or will not count. */
    synchronized void cacheDropped() {
        drops++;
        suspect = true;
    }

    /** Like {@link #cacheDropped}, of the only copy: unless all was durable, the next flush must report that. */
    synchronized void onlyCacheDropped() {
        cacheDropped();
        gone = unflushed.clone();
    }

    /** Lost writes that were found. */
    synchronized int lost() { return lost; }

    synchronized long written() { return Arrays.stream(begun).sum(); }
}
