package lunar.filter;

import java.time.Duration;
import lunar.block.Size;

/**
 * Settings of a {@link ScheduleFilter}.
 *
 * @param policy scheduler
 * @param depth maximum number of requests at the device below, 1 to 1024
 * @param mergeBytes maximum length of a merged request, up to 1 MiB; {@link #NO_MERGING} for no merging
 */
public record ScheduleOptions(RequestScheduler.Factory policy, int depth, long mergeBytes) {
    /** {@link #mergeBytes} of a filter that passes on every request by itself. */
    public static final long NO_MERGING = 0;

    /** Default depth: enough to keep a disk busy, and small enough to leave a choice. */
    public static final int DEFAULT_DEPTH = 4;

    /** Approximate maximum wait of a request before it is served out of order. */
    public static final Duration DEFAULT_DEADLINE = Duration.ofMillis(500);

    private static final int MAX_DEPTH = 1024;
    private static final long MAX_MERGE_BYTES = 1 << 20;

    public ScheduleOptions {
        if (depth < 1 || depth > MAX_DEPTH) {
            throw new IllegalArgumentException(
                    "the depth must be a number from 1 to " + MAX_DEPTH + ", not " + depth);
        }
        if (mergeBytes < 0 || mergeBytes > MAX_MERGE_BYTES) {
            throw new IllegalArgumentException("the merge limit must be at most "
                    + Size.format(MAX_MERGE_BYTES) + ", not " + Size.format(mergeBytes));
        }
    }

    /** Four requests at once, none of them merged. */
    public static ScheduleOptions of(RequestScheduler.Factory policy) {
        return new ScheduleOptions(policy, DEFAULT_DEPTH, NO_MERGING);
    }

    /** Returns these settings with another depth. */
    public ScheduleOptions withDepth(int other) {
        return new ScheduleOptions(policy, other, mergeBytes);
    }

    /** Returns these settings with neighbours merged to requests of at most so many bytes. */
    public ScheduleOptions withMergeBytes(long bytes) {
        return new ScheduleOptions(policy, depth, bytes);
    }
}
