package lunar.filter;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * State of each block in one long, modified atomically:
 *
 * <pre>
 *  63            46 45          34 33         32       31          0
 * | writes begun   | in flight    | overlapped | known | CRC32C     |
 * </pre>
 *
 * The checksum is valid only if it is known and no write is in flight. Overlapping writes leave a block unknown,
 * because either may have been last. The number of writes begun wraps around; it lets a reader detect concurrent
 * writes.
 */
final class Checksums {
    private static final int LEAF_BLOCKS = 4096;
    private static final long CRC_MASK = 0xffff_ffffL;
    private static final long KNOWN = 1L << 32;
    private static final long OVERLAPPED = 1L << 33;
    private static final long ONE_IN_FLIGHT = 1L << 34;
    private static final long IN_FLIGHT_MASK = 0xfffL << 34;
    private static final long ONE_BEGUN = 1L << 46;

    /** How a write ended. */
    enum End {
        /** The blocks have the new checksum. */
        WRITTEN,
        /** It was refused; the blocks are as before. */
        UNCHANGED,
        /** The blocks may be old, new or a mixture. */
        UNKNOWN
    }

    private final ConcurrentMap<Long, AtomicLongArray> leaves = new ConcurrentHashMap<>();

    private AtomicLongArray leaf(long lba) {
        return leaves.computeIfAbsent(lba / LEAF_BLOCKS, _ -> new AtomicLongArray(LEAF_BLOCKS));
    }

    /** Returns what is known of a block. */
    long state(long lba) {
        AtomicLongArray leaf = leaves.get(lba / LEAF_BLOCKS);
        return leaf == null ? 0 : leaf.get((int) (lba % LEAF_BLOCKS));
    }

    /** Whether a block that had this state before a read and has it after must have this checksum. */
    static boolean isKnown(long state) {
        return (state & (KNOWN | IN_FLIGHT_MASK)) == KNOWN;
    }

    static int crc(long state) { return (int) state; }

    /** The first block of a range that is known to have another checksum; the range's end where there is none. */
    long firstKnownOtherThan(int crc, long from, long end) {
        for (long lba = from; lba < end;) {
            if (leaves.containsKey(lba / LEAF_BLOCKS)) {
                long state = state(lba);
                if (isKnown(state) && crc(state) != crc) {
                    return lba;
                }
                lba++;
            } else {
                lba = (lba / LEAF_BLOCKS + 1) * LEAF_BLOCKS;
            }
        }
        return end;
    }

    /** A write of the block begins. */
    void begin(long lba) {
        leaf(lba).updateAndGet((int) (lba % LEAF_BLOCKS), state -> {
            long overlap = (state & IN_FLIGHT_MASK) == 0 ? 0 : OVERLAPPED;
            return (state | overlap) + ONE_IN_FLIGHT + ONE_BEGUN;
        });
    }

    /** A write of the block has ended. */
    void end(long lba, End end, int crc) {
        leaf(lba).updateAndGet((int) (lba % LEAF_BLOCKS), state -> {
            long rest = state - ONE_IN_FLIGHT;
            boolean overlapped = (state & OVERLAPPED) != 0;
            if ((rest & IN_FLIGHT_MASK) == 0) {
                rest &= ~OVERLAPPED;
            }
            if (overlapped || end == End.UNKNOWN) {
                return rest & ~(KNOWN | CRC_MASK);
            }
            return end == End.UNCHANGED
                    ? rest
                    : (rest & ~CRC_MASK) | KNOWN | (crc & CRC_MASK);
        });
    }
}
