package lunar.raid.simulation;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * The values that each block of the volume may read as. A block is filled with one number, its tag. While writes of a
 * block are under way, or after they have overlapped or failed, it may have several. Sets of tags are arrays that never
 * change.
 */
final class Expectation {
    static final int BLOCK_BYTES = SimMember.BLOCK_BYTES;
    private static final long[] ZEROES = {0};
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

    /** A range that is written, read or flushed at the moment. */
    final class Access {
        private final int from;
        private final int end;
        private final long tag;
        /** Whether no write was under way meanwhile, but for itself, by block. */
        private final boolean[] alone;
        /** For a read or flush, what each block may be. */
        private final long[][] seen;

        private Access(int from, int count, long tag, boolean isWrite) {
            this.from = from;
            end = from + count;
            this.tag = tag;
            alone = new boolean[count];
            seen = isWrite ? new long[0][] : Arrays.copyOfRange(candidates, from, end);
        }

        private boolean touches(int block) { return block >= from && block < end; }
    }

    private final long[][] candidates;
    /** The values that each block may have after a crash. */
    private final long[][] survivors;
    private final BitSet unsettled = new BitSet();
    private final List<Access> writes = new ArrayList<>();
    private final List<Access> reads = new ArrayList<>();

    /** Blocks of zeroes. */
    Expectation(int blocks) {
        candidates = new long[blocks][];
        Arrays.fill(candidates, ZEROES);
        survivors = candidates.clone();
    }

    static MemorySegment fill(MemorySegment data, long tag) {
        for (long at = 0; at < data.byteSize(); at += Long.BYTES) {
            data.set(LONG, at, tag);
        }
        return data;
    }

    private static boolean has(long[] tags, long tag) {
        for (long one : tags) {
            if (one == tag) {
                return true;
            }
        }
        return false;
    }

    private static long[] with(long[] tags, long tag) {
        if (has(tags, tag)) {
            return tags;
        }
        long[] more = Arrays.copyOf(tags, tags.length + 1);
        more[tags.length] = tag;
        return more;
    }

    private static long[] common(long[] some, long[] others) {
        return some.length == 1 && others.length == 1 && some[0] == others[0]
                ? some
                : Arrays.stream(some).filter(tag -> has(others, tag)).toArray();
    }

    // --- writes ---

    Access beginWrite(int from, int count, long tag) {
        var access = new Access(from, count, tag, true);
        for (int block = from; block < access.end; block++) {
            access.alone[block - from] = true;
            for (Access other : writes) {
                if (other.touches(block)) {
                    other.alone[block - other.from] = false;
                    access.alone[block - from] = false;
                }
            }
            for (Access other : reads) {
                if (other.touches(block)) {
                    other.seen[block - other.from] = with(other.seen[block - other.from], tag);
                    other.alone[block - other.from] = false;
                }
            }
            candidates[block] = with(candidates[block], tag);
            survivors[block] = with(survivors[block], tag);
            unsettled.set(block);
        }
        writes.add(access);
        return access;
    }

    void endWrite(Access access, boolean isGood, boolean isStable) {
        writes.remove(access);
        long[] tags = {access.tag};
        for (int block = access.from; block < access.end; block++) {
            if (isGood && access.alone[block - access.from]) {
                candidates[block] = tags;
                if (isStable) {
                    survivors[block] = tags;
                    unsettled.clear(block);
                }
            }
        }
    }

    // --- reads and flushes ---

    Access beginRead(int from, int count) { return begin(new Access(from, count, 0, false)); }

    Access beginFlush() { return begin(new Access(0, candidates.length, 0, false)); }

    private Access begin(Access access) {
        Arrays.fill(access.alone, true);
        for (Access write : writes) {
            int from = Math.max(access.from, write.from);
            int end = Math.min(access.end, write.end);
            if (from < end) {
                Arrays.fill(access.alone, from - access.from, end - access.from, false);
            }
        }
        reads.add(access);
        return access;
    }

    void endFlush(Access access) {
        reads.remove(access);
        for (int block = 0; block < access.end; block++) {
            survivors[block] = common(survivors[block], access.seen[block]);
            if (access.alone[block]) {
                unsettled.clear(block);
            }
        }
    }

    /** It has failed. */
    void dropRead(Access access) { reads.remove(access); }

    /** Holds what was read against what it may be; tells in one line what is wrong, or null where nothing is. */
    String endRead(Access access, MemorySegment data) {
        reads.remove(access);
        for (int block = access.from; block < access.end; block++) {
            int i = block - access.from;
            long at = (long) i * BLOCK_BYTES;
            long tag = data.get(LONG, at);
            for (long next = at; next < at + BLOCK_BYTES; next += Long.BYTES) {
                if (data.get(LONG, next) != tag) {
                    return "block %d has %d at byte %d and %d at its start".formatted(block,
                            data.get(LONG, next), next - at, tag);
                }
            }
            if (!has(access.seen[i], tag)) {
                return "block %d reads as %d, and may be %s".formatted(block, tag,
                        Arrays.toString(access.seen[i]));
            }
            if (access.alone[i]) {
                candidates[block] = new long[]{tag};
            }
        }
        return null;
    }

    private boolean isQuiet(int block) {
        for (Access write : writes) {
            if (write.touches(block)) {
                return false;
            }
        }
        return true;
    }

    /** The tag that all these blocks have, if no write is in flight; else -1. */
    long known(int from, int count) {
        long[] first = candidates[from];
        for (int block = from; block < from + count; block++) {
            if (!isQuiet(block) || candidates[block].length != 1
                    || candidates[block][0] != first[0]) {
                return -1;
            }
        }
        return first[0];
    }

    /** Whether a block was written, or was to be, and that is not stable. */
    boolean isUnsettled(int block) {
        return unsettled.get(block);
    }

    /** Nothing is under way any more; blocks are what has survived. */
    void crash() {
        writes.clear();
        reads.clear();
        System.arraycopy(survivors, 0, candidates, 0, survivors.length);
    }
}
