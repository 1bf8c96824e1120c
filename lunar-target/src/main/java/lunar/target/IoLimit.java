package lunar.target;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lunar.block.Size;

/**
 * A limit on the commands that access a medium, as a text {@code 500iops,100MiB,burst=2s}: commands per second, bytes
 * per second, and the unused time that may be made up for. Commands beyond the limit are delayed. Immutable.
 *
 * @param commandsPerSecond at least 1, or {@link #UNLIMITED}
 * @param bytesPerSecond at least {@link #MIN_BYTES_PER_SECOND}, or {@link #UNLIMITED}
 * @param burst how much unused time may be made up for at once; 1 ms to {@link #MAX_BURST}, in whole milliseconds
 */
public record IoLimit(long commandsPerSecond, long bytesPerSecond, Duration burst) {
    /** A rate without a limit. */
    public static final long UNLIMITED = 0;
    /** Below this, hosts would abort commands that wait for a single long transfer. */
    public static final long MIN_BYTES_PER_SECOND = 1 << 20;
    /** The burst of a limit that is given none. */
    public static final Duration DEFAULT_BURST = Duration.ofMillis(100);
    /** The longest burst. */
    public static final Duration MAX_BURST = Duration.ofHours(1);

    private static final String IOPS = "iops";
    private static final String BURST = "burst=";
    private static final Pattern DURATION = Pattern.compile("(\\d{1,7})(ms|s)");
    private static final long MS_PER_SECOND = 1000;
    private static final long MAX_RATE = 1L << 40;
    private static final int[] SHIFTS = {40, 30, 20, 10};
    private static final String[] UNITS = {"TiB", "GiB", "MiB", "KiB"};

    public IoLimit {
        if (commandsPerSecond == UNLIMITED && bytesPerSecond == UNLIMITED) {
            throw new IllegalArgumentException(
                    "a limit needs commands or bytes per second; write for example 500iops,100MiB");
        }
        if (commandsPerSecond < 0 || commandsPerSecond > MAX_RATE) {
            throw new IllegalArgumentException("a limit of " + commandsPerSecond
                    + " commands per second is not from 1 to " + MAX_RATE);
        }
        if (bytesPerSecond != UNLIMITED
                && (bytesPerSecond < MIN_BYTES_PER_SECOND || bytesPerSecond > MAX_RATE)) {
            throw new IllegalArgumentException("a limit of " + bytesPerSecond
                    + " bytes per second is not from 1MiB to 1TiB");
        }
        if (burst.compareTo(MAX_BURST) > 0 || burst.toMillis() < 1) {
            throw new IllegalArgumentException(
                    "a burst must be from 1ms to " + MAX_BURST.toSeconds() + "s");
        }
        burst = Duration.ofMillis(burst.toMillis());
    }

    /**
     * Parses a limit: parts in any order, separated by commas.
     *
     * @throws IllegalArgumentException if it is malformed; the message is one line for the user
     */
    public static IoLimit parse(String text) {
        Optional<Long> commands = Optional.empty();
        Optional<Long> bytes = Optional.empty();
        Optional<Duration> burst = Optional.empty();
        for (String each : text.split(",", -1)) {
            String part = each.strip();
            if (part.startsWith(BURST)) {
                burst = once(text, burst, duration(part));
            } else if (part.endsWith(IOPS)) {
                commands = once(text, commands,
                        positive(part, number(part.substring(0, part.length() - IOPS.length()))));
            } else {
                bytes = once(text, bytes, positive(part, size(part)));
            }
        }
        return new IoLimit(commands.orElse(UNLIMITED), bytes.orElse(UNLIMITED),
                burst.orElse(DEFAULT_BURST));
    }

    private static <T> Optional<T> once(String text, Optional<T> before, T value) {
        if (before.isPresent()) {
            throw new IllegalArgumentException("'" + text + "' limits the same rate twice");
        }
        return Optional.of(value);
    }

    private static long positive(String part, long value) {
        if (value == 0) {
            throw new IllegalArgumentException(
                    "'" + part + "' permits nothing; leave it out to set no limit");
        }
        return value;
    }

    private static long size(String part) {
        try {
            return Size.parse(part);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "'" + part + "' is not a rate; write for example 500iops,100MiB,burst=2s", e);
        }
    }

    private static long number(String digits) {
        if (!digits.matches("\\d{1,13}")) {
            throw new IllegalArgumentException("'" + digits + IOPS
                    + "' is not a number of commands per second; write for example 500iops");
        }
        return Long.parseLong(digits);
    }

    private static Duration duration(String part) {
        Matcher matcher = DURATION.matcher(part.substring(BURST.length()));
        if (!matcher.matches()) {
            throw new IllegalArgumentException(
                    "'" + part + "' is not a burst; write for example burst=500ms or burst=2s");
        }
        long number = Long.parseLong(matcher.group(1));
        return matcher.group(2).equals("s")
                ? Duration.ofSeconds(number)
                : Duration.ofMillis(number);
    }

    /** Returns the text that {@link #parse} reads. */
    @Override
    public String toString() {
        var parts = new ArrayList<String>();
        if (commandsPerSecond != UNLIMITED) {
            parts.add(commandsPerSecond + IOPS);
        }
        if (bytesPerSecond != UNLIMITED) {
            parts.add(size(bytesPerSecond));
        }
        if (!burst.equals(DEFAULT_BURST)) {
            long ms = burst.toMillis();
            parts.add(BURST + (ms % MS_PER_SECOND == 0 ? ms / MS_PER_SECOND + "s" : ms + "ms"));
        }
        return String.join(",", parts);
    }

    /** Returns a number of bytes in the largest unit of which it is a multiple. */
    private static String size(long bytes) {
        for (int i = 0; i < SHIFTS.length; i++) {
            if (Long.numberOfTrailingZeros(bytes) >= SHIFTS[i]) {
                return (bytes >> SHIFTS[i]) + UNITS[i];
            }
        }
        return Long.toString(bytes);
    }
}
