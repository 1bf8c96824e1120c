package lunar.cli;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lunar.block.DeviceUri;
import lunar.block.Devices;

/** The URI of a device that shall only be read. */
final class ReadOnlyUri {
    private static final Set<String> LOCAL = Set.of("file", "disk");
    private static final Pattern KEY_FILE = Pattern.compile("(?:^|:)encrypt=([^:]*):");

    private ReadOnlyUri() {}

    /** The same for one of many devices: what is wrong with it is found when it is opened. */
    static String lenient(String uri) {
        try {
            return of(uri);
        } catch (Failure | IllegalArgumentException _) {
            return uri;
        }
    }

    /**
     * The same URI, but opened for reading where its scheme knows that: a file that cannot be written will do, none is
     * made, and others that read are not locked out.
     *
     * @throws Failure when opening it would make a key file
     */
    static String of(String uri) throws Failure {
        String below = Devices.withoutFilters(uri);
        Matcher encrypt = KEY_FILE
                .matcher(uri.substring(0, Math.max(0, uri.length() - below.length())));
        while (encrypt.find()) {
            if (!Files.exists(Path.of(encrypt.group(1)))) {
                throw new Failure("key file " + encrypt.group(1)
                        + " does not exist; name the one that the device was written with");
            }
        }
        DeviceUri parsed = DeviceUri.parse(below);
        if (!LOCAL.contains(parsed.scheme()) || parsed.option("read-only") != null) {
            return uri;
        }
        return uri + (below.indexOf('?') < 0 ? "?" : "&") + "read-only=true";
    }
}
