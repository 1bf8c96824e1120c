package lunar.filter;

import java.time.Duration;
import lunar.block.BlockRequest.Operation;
import org.jspecify.annotations.Nullable;

/**
 * Chooses which of the requests that wait in a {@link ScheduleFilter} is passed to the device next. The filter calls it
 * under its own lock, so implementations need none; they must neither block nor throw. Flushes are not scheduled.
 *
 * <p>Requests in flight at once are unordered ({@link lunar.block.BlockDevice}), so any order is correct, as long as
 * every request is chosen eventually. A custom scheduler is passed to the filter as a {@link Factory}; this one serves
 * the shortest first, and every 64th time the oldest:
 *
 * {@snippet :
 * final class ShortestFirst implements RequestScheduler {
 *     private final TreeSet<Waiting> byLength = new TreeSet<>(
 *             Comparator.comparingLong(Waiting::blockCount).thenComparingLong(Waiting::order));
 *     private final TreeSet<Waiting> byArrival = new TreeSet<>(
 *             Comparator.comparingLong(Waiting::order));
 *     private int chosen;
 *
 *     public void add(Waiting request) { byLength.add(request); byArrival.add(request); }
 *
 *     public void remove(Waiting request) { byLength.remove(request); byArrival.remove(request); }
 *
 *     public Waiting next(long nowNanos) {
 *         if (byLength.isEmpty()) {
 *             return null;
 *         }
 *         Waiting next = ++chosen % 64 == 0 ? byArrival.first() : byLength.first();
 *         remove(next);
 *         return next;
 *     }
 * }
 *
 * BlockDevice ordered = new ScheduleFilter(disk, ScheduleOptions.of(ShortestFirst::new));
 * }
 */
public interface RequestScheduler {
    /** A request that waits. */
    interface Waiting {
        /** Anything but a flush. */
        Operation operation();

        /** First logical block. */
        long lba();

        /** Logical blocks touched. */
        long blockCount();

        /** When it came, in terms of {@link System#nanoTime}. */
        long arrivedNanos();

        /** Its number in the order of arrival; no other one has it. */
        long order();
    }

    /** Creates the scheduler of one filter. */
    @FunctionalInterface
    interface Factory {
        RequestScheduler create();
    }

    /** A request has come. */
    void add(Waiting request);

    /** Chooses a request and forgets it; null if none waits, not an Optional, which each request would allocate. */
    @Nullable
    Waiting next(long nowNanos);

    /** A request does not wait any longer: it goes together with another one, or its owner has given up. */
    void remove(Waiting request);

    /** In the order of arrival. */
    static Factory fifo() { return FifoScheduler::new; }

    /**
     * Returns a scheduler in the order of blocks, from the first to the last and again from the first (C-SCAN), so that
     * a disk's arm moves in one direction and returns once. A request that has waited for the deadline is served first,
     * and the order continues from there, but only for one in 16 requests: a device too slow for all deadlines keeps
     * the efficient order.
     */
    static Factory elevator(Duration deadline) {
        return () -> new ElevatorScheduler(deadline.toNanos());
    }
}
