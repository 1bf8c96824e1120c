package lunar.raid.metadata.journal;

import java.util.Arrays;
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
    private final Kind[] kinds = new Kind[JournalFormat.MAX_ENTRIES];
    /** The flush after which an entry is free. */
    private final long[] flushes = new long[JournalFormat.MAX_ENTRIES];
    private int notes;
    private long next;
    private long tail;
    private long tailPosition;

    LiveEntries(long position, long sequence) {
        Arrays.fill(kinds, Kind.PAD);
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
        kinds[at] = kind;
        stripes[at] = stripe;
        flushes[at] = kind == Kind.PAD ? 0 : NOT_WRITTEN;
        notes += kind == Kind.NOTE ? 1 : 0;
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

    /** Whether there is one that only a flush keeps from being free. */
    boolean waitsForFlush() {
        return tail < next && flushes[(int) tail & MASK] != NOT_WRITTEN;
    }

    boolean isNoted(long stripe) {
        for (long number = tail; notes > 0 && number < next; number++) {
            int at = (int) number & MASK;
            if (kinds[at] == Kind.NOTE && stripes[at] == stripe) {
                return true;
            }
        }
        return false;
    }

    /** All flushes up to this one have ended. */
    void free(long flush) {
        while (tail < next && flushes[(int) tail & MASK] <= flush) {
            int at = (int) tail & MASK;
            notes -= kinds[at] == Kind.NOTE ? 1 : 0;
            tailPosition = ends[at];
            tail++;
        }
    }
}
