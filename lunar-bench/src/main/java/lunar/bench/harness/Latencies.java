package lunar.bench.harness;

import java.util.concurrent.atomic.AtomicLongArray;

/** Histogram of latencies with buckets a sixteenth of an octave wide, from a microsecond to hours. Thread-safe. */
public final class Latencies {
    private static final int PARTS_SHIFT = 4;
    private static final int PARTS = 1 << PARTS_SHIFT;
    private static final int NANOS_SHIFT = 10; // near enough a microsecond
    private static final int OCTAVES = 34;
    private static final double NANOS_PER_US = 1e3;

    private final AtomicLongArray buckets = new AtomicLongArray(OCTAVES * PARTS);

    public void add(long nanos) {
        long value = Math.max(PARTS, nanos >> (NANOS_SHIFT - PARTS_SHIFT));
        int octave = Long.SIZE - 1 - Long.numberOfLeadingZeros(value) - PARTS_SHIFT;
        int part = (int) (value >> octave) - PARTS;
        buckets.incrementAndGet(Math.min(octave * PARTS + part, buckets.length() - 1));
    }

    /** Adds what another has counted, which does not count any longer. */
    public void addAll(Latencies other) {
        for (int i = 0; i < buckets.length(); i++) {
            buckets.addAndGet(i, other.buckets.get(i));
        }
    }

    public long count() {
        long sum = 0;
        for (int i = 0; i < buckets.length(); i++) {
            sum += buckets.get(i);
        }
        return sum;
    }

    /** Upper bound, in microseconds, of the latency that so great a part of all does not exceed. */
    public double percentile(double part) {
        long left = (long) Math.ceil(part * count());
        int i = 0;
        while (i < buckets.length() - 1 && (left -= buckets.get(i)) > 0) {
            i++;
        }
        long bound = (long) (PARTS + i % PARTS + 1) << (i / PARTS + NANOS_SHIFT - PARTS_SHIFT);
        return bound / NANOS_PER_US;
    }
}
