package lunar.filter;

import java.nio.file.Path;

/**
 * Options of encryption. Immutable.
 *
 * @param keyFile file with the key
 * @param createKey whether to create a missing key file, for a device without a key
 * @param adoptKey whether to accept the key regardless of the device's check value
 */
public record EncryptOptions(Path keyFile, boolean createKey, boolean adoptKey) {
    private static final String CREATE = ",create-key=yes";
    private static final String ADOPT = ",check=adopt";

    /** With a key file that exists, and is checked. */
    public static EncryptOptions of(Path keyFile) {
        return new EncryptOptions(keyFile, false, false);
    }

    /** These options, but with another choice of {@link #createKey}. */
    public EncryptOptions withCreateKey(boolean value) {
        return new EncryptOptions(keyFile, value, adoptKey);
    }

    /** These options, but with another choice of {@link #adoptKey}. */
    public EncryptOptions withAdoptKey(boolean value) {
        return new EncryptOptions(keyFile, createKey, value);
    }

    /**
     * Reads the settings of an {@code encrypt=} filter: {@code KEYFILE[,create-key=yes][,check=adopt]}.
     *
     * @throws IllegalArgumentException if they are wrong, with one line for a person
     */
    static EncryptOptions parse(String settings) {
        String keyFile = settings;
        boolean create = false;
        boolean adopt = false;
        for (boolean more = true; more;) { // from the end, since a file's name may have commas
            if (keyFile.endsWith(CREATE)) {
                create = true;
                keyFile = keyFile.substring(0, keyFile.length() - CREATE.length());
            } else if (keyFile.endsWith(ADOPT)) {
                adopt = true;
                keyFile = keyFile.substring(0, keyFile.length() - ADOPT.length());
            } else {
                more = false;
            }
        }
        if (keyFile.isEmpty()) {
            throw new IllegalArgumentException(
                    "encrypt needs a key file, as in encrypt=disk.key:file:disk.img");
        }
        if (keyFile.contains(",create-key=") || keyFile.contains(",check=")) {
            throw new IllegalArgumentException("encrypt=" + settings + ": unknown"
                    + " setting; supported: create-key=yes, check=adopt");
        }
        return new EncryptOptions(Path.of(keyFile), create, adopt);
    }
}
