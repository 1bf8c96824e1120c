package lunar.iscsi.spi;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How long an event loop polls for its next event before it sleeps. A thread that polls sees an event at once; one that
 * sleeps has to be woken first, which takes longer than a small command. Polling costs processor time.
 *
 * @param maxNs longest time of polling before each sleep, in nanoseconds; 0 never polls
 * @param isAdaptive whether the time follows the traffic: it grows while events come within {@code maxNs} of each
 *        other, and drops to 0 when they do not, so that idle connections use no processor
 */
public record Polling(long maxNs, boolean isAdaptive) {
    /** The longest time that can be asked for. */
    public static final Duration MAX = Duration.ofSeconds(1);

    /** Sleeps at once. */
    public static final Polling OFF = new Polling(0, false);

    /** Follows the traffic, up to 200 us: longer than a round trip on a fast network takes, short beside a disk's. */
    public static final Polling AUTO = new Polling(200_000, true);

    public Polling {
        if (maxNs < 0 || maxNs > MAX.toNanos()) {
            throw new IllegalArgumentException(
                    "a loop polls for 0 ns to " + MAX.toNanos() + " ns, not " + maxNs);
        }
    }

    private static final Pattern TIME = Pattern.compile("([1-9][0-9]{0,5})(us|ms)");

    /** Polls for a fixed time before each sleep. */
    public static Polling of(Duration time) {
        return new Polling(time.toNanos(), false);
    }

    /**
     * Parses {@code off}, {@code auto}, or a fixed time such as {@code 50us} or {@code 1ms}.
     *
     * @throws IllegalArgumentException with one line that says what can be written
     */
    public static Polling parse(String text) {
        Matcher time = TIME.matcher(text);
        long ns = !time.matches()
                ? 0
                : Long.parseLong(time.group(1)) * (time.group(2).equals("us") ? 1_000 : 1_000_000);
        return switch (text) {
            case "off" -> OFF;
            case "auto" -> AUTO;
            default -> {
                if (ns == 0 || ns > MAX.toNanos()) {
                    throw new IllegalArgumentException("'" + text
                            + "' is not a polling time; write auto, off, or a time up to 1000ms such as"
                            + " 50us");
                }
                yield new Polling(ns, false);
            }
        };
    }
}
