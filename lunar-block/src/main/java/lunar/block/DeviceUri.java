package lunar.block;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The URI of a device, {@code scheme:rest?name=value&name=value}, on the command line, in configuration files and in
 * code. A value may itself be a URI, {@link #encoded}. {@link #toString} omits secrets.
 *
 * @param scheme in lower case
 * @param rest the part between the colon and the question mark, not decoded
 * @param options decoded values by name; the first value of an option that is given several times
 * @param more the further values of options that are given several times
 */
public record DeviceUri(String scheme, String rest, Map<String, String> options,
        Map<String, List<String>> more) {
    private static final Pattern VALUE = Pattern.compile("(?<=[?&])([^=&?]+)=([^&]*)");

    /**
     * Parses a device URI.
     *
     * @throws IllegalArgumentException if it is malformed; the message is one line for the user
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
        var more = new LinkedHashMap<String, List<String>>();
        if (question >= 0) {
            for (String pair : text.substring(question + 1).split("&", -1)) {
                int equals = pair.indexOf('=');
                if (equals <= 0) {
                    throw new IllegalArgumentException(
                            "'" + pair + "' in " + scheme + ": URI is not of the form name=value");
                }
                String value = decode(pair.substring(equals + 1), scheme);
                String name = pair.substring(0, equals);
                if (options.putIfAbsent(name, value) != null) {
                    more.computeIfAbsent(name, _ -> new ArrayList<>()).add(value);
                }
            }
        }
        return new DeviceUri(scheme, rest, Map.copyOf(options), Map.copyOf(more));
    }

    /** Encodes a value of an option; only the characters that {@link #parse} would misread are changed. */
    public static String encoded(String value) {
        return value.replace("%", "%25").replace("&", "%26").replace(" ", "%20");
    }

    private static String decode(String value, String scheme) {
        try {
            return URLDecoder.decode(value.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("an option in " + scheme
                    + ": URI has a percent sign without two hexadecimal digits", e);
        }
    }

    /** Returns the value of an option; empty if it is not given. */
    public Optional<String> option(String name) {
        return Optional.ofNullable(options.get(name));
    }

    /** Returns the value of an option, or a default. */
    public String option(String name, String otherwise) {
        return options.getOrDefault(name, otherwise);
    }

    /** Returns all values of an option that may be given several times, in the order in which they are given. */
    public List<String> optionList(String name) {
        var all = new ArrayList<String>();
        String first = options.get(name);
        if (first != null) {
            all.add(first);
        }
        all.addAll(more.getOrDefault(name, List.of()));
        return List.copyOf(all);
    }

    /** Like {@link #requireKnownOptions(Set, Set)}, but each option may be given once at most. */
    public void requireKnownOptions(Set<String> known) {
        requireKnownOptions(known, Set.of());
    }

    /**
     * Refuses options that the scheme does not know, so that a misspelt one is not ignored.
     *
     * @param lists the known options that may be given several times
     * @throws IllegalArgumentException if an option is unknown or given too often; the message is one line for the user
     */
    public void requireKnownOptions(Set<String> known, Set<String> lists) {
        for (String name : more.keySet()) {
            if (!lists.contains(name)) {
                throw new IllegalArgumentException(
                        "'" + name + "' is given twice in " + scheme + ": URI");
            }
        }
        for (String name : options.keySet()) {
            if (!known.contains(name)) {
                throw new IllegalArgumentException("unknown option '" + name + "' in " + scheme
                        + ": URI; there are "
                        + String.join(", ", known.stream().sorted().toList()));
            }
        }
    }

    /**
     * Returns a URI without its secret, the part between the percent sign after the user and the last at sign, and
     * without secrets in URIs that are values of its options.
     */
    public static String withoutSecret(String text) {
        int question = text.indexOf('?');
        if (question >= 0 && text.indexOf('=', question) >= 0) {
            String options = VALUE.matcher(text.substring(question)).replaceAll(
                    option -> Matcher.quoteReplacement(
                            option.group(1) + "=" + valueWithoutSecret(option.group(2))));
            return bareWithoutSecret(text.substring(0, question)) + options;
        }
        return bareWithoutSecret(text);
    }

    private static String bareWithoutSecret(String text) {
        return text.replaceFirst("(//[^/%]*)%.*@", "$1@").replaceFirst("(//[^/%@\\[]*)%[^@]*$",
                "$1");
    }

    private static String valueWithoutSecret(String value) {
        String plain;
        try {
            plain = decode(value, "");
        } catch (IllegalArgumentException _) {
            plain = value;
        }
        String shown = withoutSecret(plain);
        return shown.equals(plain) ? value : encoded(shown);
    }

    /** Returns the URI without options and without the secret. */
    @Override
    public String toString() { return withoutSecret(scheme + ":" + rest); }
}
