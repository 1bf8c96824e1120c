package lunar.block;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The URI of a device: {@code scheme:rest?name=value&name=value}. One grammar on the command line, in config
 * files and in code. {@link #toString} leaves secrets out.
 *
 * @param scheme lower case
 * @param rest what stands between the colon and the question mark, not decoded
 * @param options decoded values by name
 */
public record DeviceUri(String scheme, String rest, Map<String, String> options) {
    /**
     * Parses a device URI.
     *
     * @throws IllegalArgumentException with one line for the person who wrote it
     */
    public static DeviceUri parse(String text) {
        int colon = text.indexOf(':');
        if (colon <= 0) {
            throw new IllegalArgumentException(
                    "'" + text + "' is not a device URI; write for example "
                            + "ram:1GiB, file:disk.img?size=1GiB or iscsi://host/iqn/0");
        }
        String scheme = text.substring(0, colon).toLowerCase(Locale.ROOT);
        int question = text.indexOf('?', colon);
        String rest = text.substring(colon + 1, question < 0 ? text.length() : question);
        var options = new LinkedHashMap<String, String>();
        if (question >= 0) {
            for (String pair : text.substring(question + 1).split("&", -1)) {
                int equals = pair.indexOf('=');
                if (equals <= 0) {
                    throw new IllegalArgumentException(
                            "'" + pair + "' in " + scheme + ": URI is not of the form name=value");
                }
                String value = decode(pair.substring(equals + 1), scheme);
                if (options.put(pair.substring(0, equals), value) != null) {
                    throw new IllegalArgumentException(
                            "'" + pair.substring(0, equals) + "' is given twice in " + scheme
                                    + ": URI");
                }
            }
        }
        return new DeviceUri(scheme, rest, Map.copyOf(options));
    }

    private static String decode(String value, String scheme) {
        try {
            return URLDecoder.decode(value.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("an option in " + scheme
                    + ": URI has a percent sign without two hexadecimal digits", e);
        }
    }

    /** An option's value, or null. */
    public @Nullable String option(String name) {
        return options.get(name);
    }

    /** An option's value, or a default. */
    public String option(String name, String otherwise) {
        return options.getOrDefault(name, otherwise);
    }

    /**
     * Refuses options that the scheme does not know, so that a misspelt one is not ignored.
     *
     * @throws IllegalArgumentException naming the option and those there are
     */
    public void requireKnownOptions(Set<String> known) {
        for (String name : options.keySet()) {
            if (!known.contains(name)) {
                throw new IllegalArgumentException("unknown option '" + name + "' in " + scheme
                        + ": URI; there are "
                        + String.join(", ", known.stream().sorted().toList()));
            }
        }
    }

    /** A URI as written, but for the secret: what stands between a user's percent sign and the last at sign. */
    public static String withoutSecret(String text) {
        return text.replaceFirst("(//[^/%]*)%.*@", "$1@").replaceFirst("(//[^/%@\\[]*)%[^@]*$",
                "$1");
    }

    /** The URI without options and without the secret. */
    @Override
    public String toString() { return withoutSecret(scheme + ":" + rest); }
}
