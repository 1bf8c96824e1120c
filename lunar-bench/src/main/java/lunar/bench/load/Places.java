package lunar.bench.load;

import lunar.bench.harness.Work;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicLong;

/** Generates position and direction of successive requests. Not thread-safe. */
final class Places {
    private final Work work;
    private final long count;
    /** Next place of the requests of one session, which take the places in order together. */
    private final AtomicLong cursor;
    private long state;

    /**
     * @param bytes of the LUN
     * @param cursor where the places are not random: how many have been taken
     */
    Places(Work work, long bytes, long seed, AtomicLong cursor) {
        this.work = work;
        count = bytes / work.requestBytes();
        this.cursor = cursor;
        state = (seed + 1) * 0x9e37_79b9_7f4a_7c15L;
    }

    /** Returns the next place, in units of the request's size. */
    long next() {
        return work.random()
                ? Math.floorMod(random(), count)
                : cursor.getAndIncrement() % count;
    }

    boolean nextWrites() {
        return switch (work.operation()) {
            case READ, NO_DATA -> false;
            case WRITE -> true;
            case MIXED -> random() < 0;
        };
    }

    /** Fills a buffer with content that cannot be taken for zeroes. */
    void fill(MemorySegment buffer) {
        for (long i = 0; i + Long.BYTES <= buffer.byteSize(); i += Long.BYTES) {
            buffer.set(ValueLayout.JAVA_LONG_UNALIGNED, i, random());
        }
    }

    /** Xorshift: enough for this, and fast. */
    private long random() {
        state ^= state << 13;
        state ^= state >>> 7;
        state ^= state << 17;
        return state;
    }
}
