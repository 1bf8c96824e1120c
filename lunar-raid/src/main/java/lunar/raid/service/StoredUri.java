package lunar.raid.service;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lunar.block.DeviceUri;
import lunar.block.Devices;
import lunar.block.StorageException;

/**
 * Converts the URI of a member, as an operator writes it, to the form in which volumes and config files store it: the
 * path of a file is absolute, and a lost file is not created again. Filters are kept.
 */
public final class StoredUri {
    private static final String FILE = "file:";
    private static final Pattern SIZE = Pattern.compile("[?&](size=[^&]*)");

    private StoredUri() {}

    /**
     * Returns the stored form of a URI; URIs of other schemes than {@code file:} are unchanged.
     *
     * @throws IllegalArgumentException if it has no valid path; the message is one line for the operator
     */
    public static String of(String uri) {
        String bare = Devices.withoutFilters(uri);
        if (!isFile(bare)) {
            return uri;
        }
        String path = path(bare).toAbsolutePath().normalize().toString();
        int question = bare.indexOf('?');
        String options = question < 0
                ? ""
                : bare.substring(question).replaceAll("(?<=[?&])size=[^&]*&?", "")
                        .replaceFirst("[?&]$", "");
        return uri.substring(0, uri.length() - bare.length()) + FILE + path + options;
    }

    /**
     * Whether a URI names a file by a path that depends on the current directory.
     *
     * @throws IllegalArgumentException if it has no valid path; the message is one line for the operator
     */
    public static boolean isRelative(String uri) {
        String bare = Devices.withoutFilters(uri);
        return isFile(bare) && !path(bare).isAbsolute();
    }

    /** Returns the option of a URI that creates a file of a size, such as {@code size=1GiB}; empty if it has none. */
    static Optional<String> size(String uri) {
        Matcher size = SIZE.matcher(uri);
        return size.find() ? Optional.of(size.group(1)) : Optional.empty();
    }

    /**
     * Creates the file of a URI that says its size, if it does not exist. Blocks.
     *
     * @throws IllegalArgumentException if the URI is wrong; the message is one line for the operator
     * @throws StorageException if the file cannot be created, or has another size
     */
    public static void createFile(String uri) throws StorageException {
        Optional<String> size = size(uri);
        if (size.isPresent()) {
            String stored = of(uri);
            Devices.open(stored + (stored.contains("?") ? "&" : "?") + size.get()).close();
        }
    }

    private static boolean isFile(String bare) {
        return bare.regionMatches(true, 0, FILE, 0, FILE.length());
    }

    private static Path path(String bare) {
        try {
            return Path.of(DeviceUri.parse(bare).rest());
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException("'" + bare + "' is no path: " + e.getReason(), e);
        }
    }
}
