package lunar.target.status;

import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * A histogram of how long commands took, from the arrival of a command to its response.
 *
 * @param counts number of commands in each bucket: bucket {@code i} has those that took at most {@code i} of
 *        {@link #BOUNDS_NANOS} and more than the bound before, the last bucket has all that took longer
 * @param totalNanos the sum of all durations
 */
public record Latencies(List<Long> counts, long totalNanos) {
    /** Bounds of the buckets in nanoseconds, ascending: 1, 2 and 5 of each decade from 10 us to 10 s. */
    public static final List<Long> BOUNDS_NANOS = LongStream.iterate(10_000, decade -> decade * 10)
            .limit(7).flatMap(decade -> decade == 10_000_000_000L
                    ? LongStream.of(decade)
                    : LongStream.of(decade, 2 * decade, 5 * decade))
            .boxed().toList();

    /** Number of buckets. */
    public static final int BUCKETS = BOUNDS_NANOS.size() + 1;

    /** No command. */
    public static final Latencies NONE = new Latencies(
            IntStream.range(0, BUCKETS).mapToObj(_ -> 0L).toList(), 0);

    public Latencies {
        counts = List.copyOf(counts);
        if (counts.size() != BUCKETS) {
            throw new IllegalArgumentException(counts.size() + " buckets, not " + BUCKETS);
        }
    }

    /** Returns the number of commands. */
    public long count() {
        return counts.stream().mapToLong(Long::longValue).sum();
    }

    /** Returns the commands of both. */
    public Latencies plus(Latencies other) {
        return new Latencies(IntStream.range(0, BUCKETS)
                .mapToObj(i -> counts.get(i) + other.counts.get(i)).toList(),
                totalNanos + other.totalNanos);
    }

    /** Returns the commands since an earlier snapshot. */
    public Latencies since(Latencies before) {
        return new Latencies(IntStream.range(0, BUCKETS)
                .mapToObj(i -> Math.max(0, counts.get(i) - before.counts.get(i))).toList(),
                Math.max(0, totalNanos - before.totalNanos));
    }

    /** Returns the mean duration in nanoseconds; 0 if there was no command. */
    public long meanNanos() {
        long count = count();
        return count == 0 ? 0 : totalNanos / count;
    }

    /**
     * Returns the upper bound of the bucket with a quantile, in nanoseconds; 0 if there was no command. Commands above
     * the last bound count as that.
     *
     * @param quantile from 0 to 1, such as 0.99
     */
    public long quantileNanos(double quantile) {
        long rank = (long) Math.ceil(quantile * count());
        long seen = 0;
        for (int i = 0; i < BUCKETS && rank > 0; i++) {
            seen += counts.get(i);
            if (seen >= rank) {
                return BOUNDS_NANOS.get(Math.min(i, BUCKETS - 2));
            }
        }
        return 0;
    }
}
