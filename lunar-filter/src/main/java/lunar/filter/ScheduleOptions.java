package lunar.filter;

import java.time.Duration;
import lunar.block.Size;

/**
 * Settings of a {@link ScheduleFilter}.
 *
 * @param policy which request goes next
 * @param depth requests that are with the device below at once, 1 to 1024
 * @param mergeBytes how long a request may become of neighbours that wait, at most 1 MiB; {@link #NO_MERGING} for not
 *        at all
 */
public record ScheduleOptions(RequestScheduler.Factory policy, int depth, long mergeBytes) {
    /** {@link #mergeBytes} of a filter that passes on every request by itself. */
    public static final long NO_MERGING = 0;

    /** Depth unless another one is asked for: enough to keep a disk busy, few enough to leave a choice. */
    public static final int DEFAULT_DEPTH = 4;

    /** How long a request waits at most, about, before it goes out of turn. */
    public static final Duration DEFAULT_DEADLINE = Duration.ofMillis(500);

    private static final int MAX_DEPTH = 1024;
    private static final long MAX_MERGE_BYTES = 1 << 20;

    public ScheduleOptions {
        if (depth < 1 || depth > MAX_DEPTH) {
            throw new IllegalArgumentException(
                    "a depth is a number from 1 to " + MAX_DEPTH + ", not " + depth);
        }
        if (mergeBytes < 0 || mergeBytes > MAX_MERGE_BYTES) {
            throw new IllegalArgumentException("requests are merged to at most "
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
