package lunar.cli.config;

import lunar.cli.command.Failure;

import java.util.Set;
import java.util.regex.Pattern;
import lunar.block.DeviceUri;
import lunar.block.Devices;

/** The URI of a device that shall only be read. */
public final class ReadOnlyUri {
    private static final Set<String> LOCAL = Set.of("file", "disk");
    private static final Pattern CREATE_KEY = Pattern
            .compile("(?:^|:)encrypt=[^:]*,create-key=yes[,:]");

    private ReadOnlyUri() {}

    /** Like {@link #of}, but for one of many devices: errors in the URI are found when it is opened. */
    public static String lenient(String uri) {
        try {
            return of(uri);
        } catch (Failure | IllegalArgumentException _) {
            return uri;
        }
    }

    /**
     * Returns the URI of the same device, but opened for reading where its scheme knows that: a file that cannot be
     * written will do, none is made, and others that read are not locked out.
     *
     * @throws Failure when opening it would make a key file
     */
    public static String of(String uri) throws Failure {
        String below = Devices.withoutFilters(uri);
        if (CREATE_KEY.matcher(uri.substring(0, uri.length() - below.length())).find()) {
            throw new Failure("a device that is only read gets no new key; take create-key=yes out"
                    + " of " + DeviceUri.withoutSecret(uri));
        }
        DeviceUri parsed = DeviceUri.parse(below);
        if (!LOCAL.contains(parsed.scheme()) || parsed.option("read-only").isPresent()) {
            return uri;
        }
        return uri + (below.indexOf('?') < 0 ? "?" : "&") + "read-only=true";
    }
}
