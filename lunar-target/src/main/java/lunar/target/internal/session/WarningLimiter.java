package lunar.target.internal.session;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Limits the warnings about each origin, so that a peer that connects and fails thousands of times a second does not
 * fill the disk. An origin may cause {@value #MOST} lines within an interval; the number of suppressed lines is logged
 * with the first warning of any origin after it. When the table is full, other origins share one entry. Thread-safe.
 */
public final class WarningLimiter {
    /** Maximum number of lines of an origin in an interval. */
    public static final int MOST = 10;

    public static final long INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(1);

    /** Maximum number of origins that have entries of their own. */
    public static final int MOST_ORIGINS = 1024;

    private static final String OTHERS = "other addresses";

    private static final class Interval {
        final long beganNanos;
        int count;
        long suppressed;

        Interval(long beganNanos) { this.beganNanos = beganNanos; }
    }

    /** Writes warnings. */
    @FunctionalInterface
    public interface Log {
        void warn(String message);
    }

    private final LongSupplier nanoClock;
    private final Log log;
    /** Intervals by origin; the first one ends first, because all have the same length. */
    private final Map<String, Interval> intervals = new LinkedHashMap<>();

    public WarningLimiter(LongSupplier nanoClock, Log log) {
        this.nanoClock = nanoClock;
        this.log = log;
    }

    /** Writes a warning about a connection of an origin, or counts it. */
    public void warn(Origin origin, String message) {
        List<String> lines = new ArrayList<>();
        synchronized (this) {
            long nowNanos = nanoClock.getAsLong();
            endIntervals(nowNanos, lines);
            Interval own = interval(origin.toString(), nowNanos);
            if (own.count < MOST) {
                own.count++;
                lines.add(message);
            } else {
                own.suppressed++;
            }
        }
        lines.forEach(log::warn);
    }

    private void endIntervals(long nowNanos, List<String> lines) {
        Iterator<Map.Entry<String, Interval>> oldest = intervals.entrySet().iterator();
        while (oldest.hasNext()) {
            Map.Entry<String, Interval> entry = oldest.next();
            if (nowNanos - entry.getValue().beganNanos < INTERVAL_NANOS) {
                return;
            }
            long suppressed = entry.getValue().suppressed;
            if (suppressed > 0) {
                lines.add(suppressed + " more warnings about connections from " + entry.getKey()
                        + " suppressed");
            }
            oldest.remove();
        }
    }

    private Interval interval(String origin, long nowNanos) {
        String key = intervals.size() < MOST_ORIGINS || intervals.containsKey(origin)
                ? origin
                : OTHERS;
        return intervals.computeIfAbsent(key, _ -> new Interval(nowNanos));
    }
}
