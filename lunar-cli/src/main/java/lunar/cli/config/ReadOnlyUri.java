package lunar.cli.config;

import lunar.cli.command.Failure;

import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import lunar.block.DeviceUri;
import lunar.block.Devices;

/** Rewrites the URI of a device to open it read-only. */
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
     * Returns the URI to look at a local device that is in use, read-only and without a lock; empty for others.
     *
     * @throws Failure if opening it would create a key file
     */
    public static Optional<String> unlocked(String uri) throws Failure {
        DeviceUri parsed = DeviceUri.parse(Devices.withoutFilters(uri));
        boolean takes = LOCAL.contains(parsed.scheme()) && parsed.option("lock").isEmpty()
                && (parsed.option("read-only").isEmpty()
                        || parsed.option("read-only", "").equals("true"));
        return takes ? Optional.of(of(uri) + "&lock=no") : Optional.empty();
    }

    /**
     * Returns the URI of the same device opened read-only, if its scheme supports that: the file may be
     * write-protected, is not created, and is not locked against other readers.
     *
     * @throws Failure if opening it would create a key file
     */
    public static String of(String uri) throws Failure {
        String below = Devices.withoutFilters(uri);
        if (CREATE_KEY.matcher(uri.substring(0, uri.length() - below.length())).find()) {
            throw new Failure("a device opened read-only cannot create a key; remove create-key=yes"
                    + " of " + DeviceUri.withoutSecret(uri));
        }
        DeviceUri parsed = DeviceUri.parse(below);
        if (!LOCAL.contains(parsed.scheme()) || parsed.option("read-only").isPresent()) {
            return uri;
        }
        return uri + (below.indexOf('?') < 0 ? "?" : "&") + "read-only=true";
    }
}
