package lunar.it.faults;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Contents of a block that repeat the run, the block and the number of the write every eight bytes, so that misplaced,
 * stale and torn blocks can be distinguished.
 */
final class Stamp {
    /** Result of {@link #read} for a block that no write of this run can have left. */
    static final long FOREIGN = -1;

    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final long GOLDEN = 0x9E3779B97F4A7C15L;

    private Stamp() {}

    /** Fills a block with the contents of a write; write 0 is a block of zeroes. */
    static void fill(MemorySegment block, long run, long lba, long write) {
        if (write == 0) {
            block.fill((byte) 0);
            return;
        }
        block.set(WORD, 0, write);
        for (long at = Long.BYTES; at < block.byteSize(); at += Long.BYTES) {
            block.set(WORD, at, word(run, lba, write, at));
        }
    }

    /** The number of the write whose contents a block has, 0 for zeroes, {@link #FOREIGN} for anything else. */
    static long read(MemorySegment block, long run, long lba) {
        long write = block.get(WORD, 0);
        for (long at = Long.BYTES; at < block.byteSize(); at += Long.BYTES) {
            long expected = write == 0 ? 0 : word(run, lba, write, at);
            if (block.get(WORD, at) != expected) {
                return FOREIGN;
            }
        }
        return write;
    }

    /**
     * Whether each eight bytes of a block are of one of these writes: what a read may find while a write is in flight,
     * which no standard makes atomic.
     */
    static boolean isMixOf(MemorySegment block, long run, long lba, long first, long last) {
        for (long at = 0; at < block.byteSize(); at += Long.BYTES) {
            long found = block.get(WORD, at);
            boolean known = false;
            for (long write = first; write <= last && !known; write++) {
                known = found == (at == 0 || write == 0 ? write : word(run, lba, write, at));
            }
            if (!known) {
                return false;
            }
        }
        return true;
    }

    private static long word(long run, long lba, long write, long at) {
        long mixed = run ^ (lba * GOLDEN) ^ Long.rotateLeft(write * GOLDEN, 21) ^ at;
        mixed = (mixed ^ (mixed >>> 30)) * 0xBF58476D1CE4E5B9L;
        return mixed ^ (mixed >>> 31) | 1; // never zero
    }
}
