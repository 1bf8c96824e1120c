package lunar.store;

import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * The option {@code identity=} of a URI: the identity that the operator gives a device.
 *
 * @param uuid the identity; empty for the one that earlier versions derived from the path
 */
public record PinnedIdentity(Optional<UUID> uuid) {
    /** The identity that earlier versions made from the path, {@code identity=path}. */
    public static final PinnedIdentity OF_PATH = new PinnedIdentity(Optional.empty());

    private static final String PATH = "path";
    private static final Pattern FORM = Pattern
            .compile("\\p{XDigit}{8}(-\\p{XDigit}{4}){3}-\\p{XDigit}{12}");

    /**
     * Reads the option.
     *
     * @throws IllegalArgumentException if it is neither a UUID nor {@code path}
     */
    public static PinnedIdentity parse(String text) {
        if (text.equals(PATH)) {
            return OF_PATH;
        }
        if (!FORM.matcher(text).matches()) {
            throw new IllegalArgumentException("identity=" + text
                    + " is neither a UUID such as 0f8fad5b-d9cb-469f-a165-70867728950e, nor path");
        }
        return new PinnedIdentity(Optional.of(UUID.fromString(text)));
    }

    /** Returns the identity, given the one that earlier versions made from the device's path. */
    UUID orOfPath(UUID ofPath) {
        return uuid.orElse(ofPath);
    }
}
