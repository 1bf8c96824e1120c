package lunar.raid.layout;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * Computes sums of blocks over the field of {@link Galois}: exclusive or, and P and Q. Everything that parity needs is
 * such a sum: P, Q, their change by a write, and units that were lost.
 *
 * <p>Bytes go through arrays of a few KiB that stay in the first-level cache, for two reasons: the compiler vectorizes
 * loops over arrays, and not loops over segments that may overlap; and the target of the sum may be one of its terms.
 * Eight bytes are multiplied at once, in a long.
 *
 * <p>Q is summed up by Horner's rule: from the largest power of the generator down, doubling the sum on each step,
 * which is a few operations; only the recovery of two lost units takes other factors.
 *
 * <p>For one thread at a time.
 */
public final class Parity {
    /** Bytes summed up at once: all terms of them stay in the first cache. */
    private static final int PIECE_BYTES = 4096;
    private static final int PIECE_LONGS = PIECE_BYTES / Long.BYTES;

    /** Steps of the generator up to which doubling is cheaper than a multiplication. */
    private static final int MAX_DOUBLINGS = 8;
    private static final long TOP_BITS = 0x8080_8080_8080_8080L;
    private static final long REDUCTIONS = 0x0101_0101_0101_0101L * Galois.REDUCTION;

    private final long[] sum = new long[PIECE_LONGS];
    private final long[] term = new long[PIECE_LONGS];
    private MemorySegment[] sources = new MemorySegment[8];
    private int[] logarithms = new int[8];
    private int count;

    /** Creates a calculator with its own buffers. */
    public Parity() {}

    /** Begins a new sum. */
    public void clear() { count = 0; }

    /** Adds a term: the bytes of a segment times a factor other than 0. */
    public void add(MemorySegment source, int factor) {
        if (count == sources.length) {
            sources = Arrays.copyOf(sources, 2 * count);
            logarithms = Arrays.copyOf(logarithms, 2 * count);
        }
        int logarithm = Galois.logarithm(factor);
        int at = count++;
        while (at > 0 && logarithms[at - 1] < logarithm) { // the largest power first
            sources[at] = sources[at - 1];
            logarithms[at] = logarithms[at - 1];
            at--;
        }
        sources[at] = source;
        logarithms[at] = logarithm;
    }

    /**
     * Stores the sum of the terms in a segment, which may be one of them, but must not overlap one otherwise. Each term
     * must have the same number of bytes.
     */
    public void into(MemorySegment target) {
        if (count == 0) {
            throw new IllegalStateException("nothing to sum up");
        }
        long bytes = target.byteSize();
        for (long at = 0; at < bytes; at += PIECE_BYTES) {
            int length = (int) Math.min(PIECE_BYTES, bytes - at);
            sumUp(at, length);
            store(target, at, length);
        }
    }

    /** Whether a segment is all zero bytes. */
    public boolean isZero(MemorySegment segment) {
        long bytes = segment.byteSize();
        for (long at = 0; at < bytes; at += PIECE_BYTES) {
            int length = (int) Math.min(PIECE_BYTES, bytes - at);
            load(segment, at, length, term);
            long any = 0;
            for (int i = 0; i < longs(length); i++) {
                any |= term[i];
            }
            if (any != 0) {
                return false;
            }
        }
        return true;
    }

    private void sumUp(long at, int length) {
        int longs = longs(length);
        load(sources[0], at, length, sum);
        for (int i = 1; i < count; i++) {
            raise(logarithms[i - 1] - logarithms[i], longs);
            load(sources[i], at, length, term);
            plus(sum, term, longs);
        }
        raise(logarithms[count - 1], longs);
    }

    private static int longs(int bytes) { return (bytes + Long.BYTES - 1) / Long.BYTES; }

    private static void plus(long[] sum, long[] term, int longs) {
        for (int i = 0; i < longs; i++) {
            sum[i] ^= term[i];
        }
    }

    /** Multiplies the sum by the generator to a power. */
    private void raise(int power, int longs) {
        if (power > MAX_DOUBLINGS) {
            times(Galois.power(power), longs);
        } else {
            for (int i = 0; i < power; i++) {
                twice(sum, longs);
            }
        }
    }

    /** Multiplies eight bytes by 2 in each long: a byte that loses its top bit is reduced. */
    private static void twice(long[] values, int longs) {
        for (int i = 0; i < longs; i++) {
            values[i] = twice(values[i]);
        }
    }

    private static long twice(long value) {
        long top = value & TOP_BITS;
        // 0xff in each byte that has its top bit: no byte borrows from the next, since 0x80 << 1 is its neighbour's 1
        return ((value ^ top) << 1) ^ (((top << 1) - (top >>> 7)) & REDUCTIONS);
    }

    /**
     * Multiplies the sum by a factor: adds its doublings, one for each bit of the factor. A loop for each step, since
     * the compiler vectorizes short loops only.
     */
    private void times(int factor, int longs) {
        Arrays.fill(term, 0, longs, 0);
        for (int bits = factor; bits != 0; bits >>= 1) {
            if ((bits & 1) != 0) {
                plus(/* sum= */ term, /* term= */ sum, longs);
            }
            twice(sum, longs);
        }
        System.arraycopy(term, 0, sum, 0, longs);
    }

    private static void load(MemorySegment source, long at, int bytes, long[] target) {
        int longs = bytes / Long.BYTES;
        MemorySegment.copy(source, ValueLayout.JAVA_LONG_UNALIGNED, at, target, 0, longs);
        int done = longs * Long.BYTES;
        if (done < bytes) {
            target[longs] = 0;
            MemorySegment.copy(source, at + done, MemorySegment.ofArray(target), done,
                    bytes - done);
        }
    }

    private void store(MemorySegment target, long at, int bytes) {
        int longs = bytes / Long.BYTES;
        MemorySegment.copy(sum, 0, target, ValueLayout.JAVA_LONG_UNALIGNED, at, longs);
        int done = longs * Long.BYTES;
        if (done < bytes) {
            MemorySegment.copy(MemorySegment.ofArray(sum), done, target, at + done, bytes - done);
        }
    }
}
