package lunar.raid;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What each block of the volume may read as. A block is filled with one number, its tag. While writes of a block are
 * under way, or after they have overlapped or failed, it may have several.
 */
final class Expectation {
    static final int BLOCK_BYTES = SimMember.BLOCK_BYTES;

    /** A range that is written, read or flushed at the moment. */
    final class Access {
        private final int from;
        private final int end;
        private final long tag;
        private final boolean isFlush;
        /** Whether no write was under way meanwhile, but for itself, by block. */
        private final boolean[] alone;
        /** For a read or flush, what each block may be. */
        private final List<Set<Long>> seen = new ArrayList<>();

        private Access(int from, int count, long tag, boolean isFlush) {
            this.from = from;
            end = from + count;
            this.tag = tag;
            this.isFlush = isFlush;
            alone = new boolean[count];
        }

        private boolean touches(int block) { return block >= from && block < end; }
    }

    private final List<Set<Long>> candidates = new ArrayList<>();
    /** What each block may be after a crash. */
    private final List<Set<Long>> survivors = new ArrayList<>();
    private final BitSet unsettled = new BitSet();
    private final List<Access> writes = new ArrayList<>();
    private final List<Access> reads = new ArrayList<>();

    /** Blocks of zeroes. */
    Expectation(int blocks) {
        for (int i = 0; i < blocks; i++) {
            candidates.add(new HashSet<>(Set.of(0L)));
            survivors.add(new HashSet<>(Set.of(0L)));
        }
    }

    static MemorySegment fill(MemorySegment data, long tag) {
        for (long at = 0; at < data.byteSize(); at += Long.BYTES) {
            data.set(ValueLayout.JAVA_LONG_UNALIGNED, at, tag);
        }
        return data;
    }

    Access beginWrite(int from, int count, long tag) {
        var access = new Access(from, count, tag, false);
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
                    other.seen.get(block - other.from).add(tag);
                    other.alone[block - other.from] = false;
                }
            }
            candidates.get(block).add(tag);
            survivors.get(block).add(tag);
            unsettled.set(block);
        }
        writes.add(access);
        return access;
    }

    void endWrite(Access access, boolean isGood, boolean isStable) {
        writes.remove(access);
        for (int block = access.from; block < access.end; block++) {
            if (isGood && access.alone[block - access.from]) {
                candidates.set(block, new HashSet<>(Set.of(access.tag)));
                if (isStable) {
                    survivors.set(block, new HashSet<>(Set.of(access.tag)));
                    unsettled.clear(block);
                }
            }
        }
    }

    Access beginRead(int from, int count) { return begin(new Access(from, count, 0, false)); }

    Access beginFlush() { return begin(new Access(0, candidates.size(), 0, true)); }

    private Access begin(Access access) {
        for (int block = access.from; block < access.end; block++) {
            access.seen.add(new HashSet<>(candidates.get(block)));
            access.alone[block - access.from] = isQuiet(block);
        }
        reads.add(access);
        return access;
    }

    void endFlush(Access access, boolean isGood) {
        reads.remove(access);
        if (isGood) {
            for (int block = 0; block < access.end; block++) {
                survivors.get(block).retainAll(access.seen.get(block));
                unsettled.set(block, unsettled.get(block) && !access.alone[block]);
            }
        }
    }

    /** It has failed. */
    void dropRead(Access access) { reads.remove(access); }

    void endRead(Access access, MemorySegment data, String name) {
        reads.remove(access);
        for (int block = access.from; block < access.end; block++) {
            MemorySegment content = data.asSlice((long) (block - access.from) * BLOCK_BYTES,
                    BLOCK_BYTES);
            long tag = content.get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
            assertThat(access.seen.get(block - access.from)).as("%s: block %d", name, block)
                    .contains(tag);
            for (long at = 0; at < BLOCK_BYTES; at += Long.BYTES) {
                assertThat(content.get(ValueLayout.JAVA_LONG_UNALIGNED, at))
                        .as("%s: parts of block %d", name, block).isEqualTo(tag);
            }
            if (access.alone[block - access.from]) {
                candidates.set(block, new HashSet<>(Set.of(tag)));
            }
        }
    }

    private boolean isQuiet(int block) {
        for (Access write : writes) {
            if (write.touches(block)) {
                return false;
            }
        }
        return true;
    }

    /** The one tag of all these blocks, if they have one and nobody writes; else -1. */
    long known(int from, int count) {
        Set<Long> first = candidates.get(from);
        for (int block = from; block < from + count; block++) {
            if (!isQuiet(block) || candidates.get(block).size() != 1
                    || !candidates.get(block).equals(first)) {
                return -1;
            }
        }
        return first.iterator().next();
    }

    /** Whether a block was written, or was to be, and that is not stable. */
    boolean isUnsettled(int block) {
        return unsettled.get(block);
    }

    /** Nothing is under way any more; blocks are what has survived. */
    void crash() {
        writes.clear();
        reads.clear();
        for (int block = 0; block < candidates.size(); block++) {
            candidates.set(block, new HashSet<>(survivors.get(block)));
        }
    }
}
