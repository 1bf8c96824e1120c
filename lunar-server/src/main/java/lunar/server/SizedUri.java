package lunar.server;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lunar.block.DeviceUri;
import lunar.block.Devices;

/** Changes the size that the URI of a device asks for. */
final class SizedUri {
    private static final Pattern SIZE = Pattern.compile("(?<=[?&])size=[^&]*");
    private static final String UNITS = "KMGTP";
    private static final int SHIFT = 10;

    private SizedUri() {}

    /**
     * Returns the URI of a device with another size; empty if URIs of its scheme have none.
     *
     * @throws IllegalArgumentException if it is malformed
     */
    static Optional<String> of(String uri, long bytes) {
        String bare = Devices.withoutFilters(uri);
        String filters = uri.substring(0, uri.length() - bare.length());
        String size = text(bytes);
        return switch (DeviceUri.parse(bare).scheme()) {
            case "ram" -> Optional.of(filters + bare.replaceFirst("(?<=:)[^?]*", size));
            case "file" -> Optional.of(filters + withOption(bare, "size=" + size));
            default -> Optional.empty();
        };
    }

    private static String withOption(String bare, String option) {
        int question = bare.indexOf('?');
        if (question < 0) {
            return bare + "?" + option;
        }
        Matcher matcher = SIZE.matcher(bare).region(question, bare.length())
                .useTransparentBounds(true);
        return matcher.find()
                ? bare.substring(0, matcher.start()) + option + bare.substring(matcher.end())
                : bare + "&" + option;
    }

    /** Returns a size in the largest unit of which it is a multiple. */
    private static String text(long bytes) {
        int unit = Math.min(Long.numberOfTrailingZeros(bytes) / SHIFT, UNITS.length());
        return unit == 0
                ? Long.toString(bytes)
                : (bytes >> (SHIFT * unit)) + UNITS.substring(unit - 1, unit) + "iB";
    }
}
