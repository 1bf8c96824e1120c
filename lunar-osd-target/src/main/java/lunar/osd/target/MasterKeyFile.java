package lunar.osd.target;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import lunar.block.PrivateFile;
import lunar.osd.security.KeyText;
import lunar.osd.security.SecretKey;

/** A file with a master key, which other users cannot read. */
final class MasterKeyFile {
    private static final int MAX_BYTES = 64 << 10;

    private MasterKeyFile() {}

    /**
     * Reads a file.
     *
     * @throws IOException if it cannot be read, is exposed to other users, or is malformed; the message has no secret
     */
    static SecretKey read(Path file) throws IOException {
        Optional<PrivateFile.Exposure> exposure = PrivateFile.check(file);
        if (exposure.isPresent()) {
            throw new IOException("key file " + file + ' ' + exposure.get());
        }
        if (Files.size(file) > MAX_BYTES) {
            throw new IOException(file + " is no key file: it is too long");
        }
        try {
            return KeyText.key(Files.readAllLines(file));
        } catch (IllegalArgumentException e) {
            throw new IOException(file + " " + e.getMessage(), e);
        }
    }
}
