package lunar.raid.metadata.journal;

import lunar.raid.metadata.journal.JournalFormat.Kind;

/**
 * The journal's entries from the tail on that its page names, in memory that is taken once. The tail proper is the
 * first entry that is not free. Positions count on for ever; their offset in the ring is the remainder. The journal's
 * lock guards it.
 */
final class LiveEntries {
    private static final int MASK = JournalFormat.MAX_ENTRIES - 1;
    /** The flush number of an entry that is not in place. */
    private static final long NOT_WRITTEN = Long.MAX_VALUE;

    private final long[] ends = new long[JournalFormat.MAX_ENTRIES];
    private final long[] stripes = new long[JournalFormat.MAX_ENTRIES];
    /** Whether data of the same stripe wait until an entry is free. */
    private final boolean[] barring = new boolean[JournalFormat.MAX_ENTRIES];
    /** The flush after which an entry is free. */
    private final long[] flushes = new long[JournalFormat.MAX_ENTRIES];
    /** Number of entries that are barring. */
    private int bars;
    private long next;
    private long tail;
    private long tailPosition;
    /** Entries before this number are of before a loss of writes. */
    private long lostBefore;
    /** Losses that are not noted yet. */
    private int unnoted;

    LiveEntries(long position, long sequence) {
        next = sequence;
        tail = sequence;
        tailPosition = position;
    }

    /** The number that the next entry gets. */
    long next() { return next; }

    /** The number of the first entry that is not free, or the next one. */
    long tail() {
        return tail;
    }

    /** Returns its position. */
    long tailPosition() { return tailPosition; }

    long count() { return next - tail; }

    /** A new entry, which ends at this position. */
    void add(Kind kind, long stripe, long end) {
        int at = (int) next & MASK;
        ends[at] = end;
        barring[at] = kind == Kind.NOTE;
        stripes[at] = stripe;
        flushes[at] = kind == Kind.PAD ? 0 : NOT_WRITTEN;
        bars += barring[at] ? 1 : 0;
        next++;
    }

    /** The last one becomes longer. */
    void extend(long end) {
        ends[(int) (next - 1) & MASK] = end;
    }

    /** An entry is in place, and free after this flush. */
    void written(long sequence, long flush) {
        flushes[(int) sequence & MASK] = flush;
    }

    /** The writes of an entry have been put back: what it has is not what later data of its stripe build on. */
    void undone(long sequence) {
        int at = (int) sequence & MASK;
        bars += barring[at] ? 0 : 1;
        barring[at] = true;
    }

    /** What is in place of all entries so far may be lost; none becomes free until {@link #lossNoted}. */
    void lost() {
        lostBefore = next;
        unnoted++;
    }

    /** It is stable that the redundancy of the stripes concerned is to be compared. */
    void lossNoted() {
        unnoted--;
    }

    /** Whether entries of before a loss are not free yet: what follows builds on what the members have since. */
    boolean hasLost() {
        return tail < lostBefore;
    }

    /** Whether there is one that only a flush keeps from being free. */
    boolean waitsForFlush() {
        return unnoted == 0 && tail < next && flushes[(int) tail & MASK] != NOT_WRITTEN;
    }

    /** Whether data of a stripe wait until an entry of it is free: a note, or one that was put back. */
    boolean isBarred(long stripe) {
        for (long number = tail; bars > 0 && number < next; number++) {
            int at = (int) number & MASK;
            if (barring[at] && stripes[at] == stripe) {
                return true;
            }
        }
        return false;
    }

    /** All flushes up to this one have ended. */
    void free(long flush) {
        while (unnoted == 0 && tail < next && flushes[(int) tail & MASK] <= flush) {
            int at = (int) tail & MASK;
            bars -= barring[at] ? 1 : 0;
            tailPosition = ends[at];
            tail++;
        }
    }
}
