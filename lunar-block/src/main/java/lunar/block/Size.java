package lunar.block;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses and formats sizes such as {@code 4k}, {@code 64KiB} or {@code 1G}. All units are powers of 1024. */
public final class Size {
    private static final Pattern FORM = Pattern
            .compile("(\\d{1,18})(?:([kKmMgGtTpP])(?:i?[bB])?|[bB])?");
    private static final String UNITS = "kmgtp";

    private Size() {}

    /**
     * Parses a size.
     *
     * @return the number of bytes
     * @throws IllegalArgumentException if it is malformed or too large; the message is one line for the user
     */
    public static long parse(String text) {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException(
                    "'" + text + "' is not a size; write for example 4k, 64KiB or 1G");
        }
        long number = Long.parseLong(matcher.group(1));
        String unit = matcher.group(2);
        int shift = unit == null ? 0 : 10 * (UNITS.indexOf(unit.toLowerCase(Locale.ROOT)) + 1);
        if (number > Long.MAX_VALUE >> shift) {
            throw new IllegalArgumentException("'" + text + "' is too large a size");
        }
        return number << shift;
    }

    /** Formats a number of bytes in the largest unit of which there is at least one: {@code 1 GiB}, {@code 1.5 MiB}. */
    public static String format(long bytes) {
        if (bytes < 1024) {
            return bytes + " B";
        }
        int unit = (63 - Long.numberOfLeadingZeros(bytes)) / 10;
        double value = bytes / (double) (1L << (10 * unit));
        String digits = value == Math.rint(value)
                ? Long.toString((long) value)
                : String.format(Locale.ROOT, "%.1f", value);
        return digits + " " + "KMGTPE".charAt(unit - 1) + "iB";
    }
}
