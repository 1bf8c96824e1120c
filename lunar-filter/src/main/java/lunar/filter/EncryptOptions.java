package lunar.filter;

import java.nio.file.Path;

/**
 * How a device is encrypted. Immutable.
 *
 * @param keyFile file with the key
 * @param createKey whether a key file that is missing is made, for a device that has no key yet
 * @param adoptKey whether the key is taken for that of the device whatever its check value says
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
     * @throws IllegalArgumentException when they are wrong, with one line for a person
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
            throw new IllegalArgumentException("encrypt=" + settings + ": has a setting that is"
                    + " none; there are create-key=yes, check=adopt");
        }
        return new EncryptOptions(Path.of(keyFile), create, adopt);
    }
}
