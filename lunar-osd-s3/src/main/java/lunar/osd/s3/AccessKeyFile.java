package lunar.osd.s3;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import lunar.block.PrivateFile;

/**
 * A file of access keys: a line for each, with the access key, blanks and the secret. Empty lines and lines that begin
 * with {@code #} are skipped. Other users must not be able to read the file.
 */
public final class AccessKeyFile {
    private static final int MAX_BYTES = 1 << 20;

    private AccessKeyFile() {}

    /**
     * Reads a file.
     *
     * @return secrets by access keys
     * @throws IOException if it cannot be read, is exposed to other users, or is malformed; the message has no secret
     */
    public static Map<String, String> read(Path file) throws IOException {
        Optional<PrivateFile.Exposure> exposure = PrivateFile.check(file);
        if (exposure.isPresent()) {
            throw new IOException(file + " " + exposure.get());
        }
        if (Files.size(file) > MAX_BYTES) {
            throw new IOException(file + " is no file of access keys: it is too long");
        }
        var keys = new LinkedHashMap<String, String>();
        int number = 0;
        for (String line : Files.readAllLines(file)) {
            number++;
            if (line.isBlank() || line.startsWith("#")) {
                continue;
            }
            String[] fields = line.strip().split("\\s+", -1);
            if (fields.length != 2 || fields[0].contains("/")) {
                throw new IOException(file + ", line " + number
                        + ": expected an access key, a blank and a secret");
            }
            if (keys.put(fields[0], fields[1]) != null) {
                throw new IOException(file + ", line " + number + ": this access key is repeated");
            }
        }
        if (keys.isEmpty()) {
            throw new IOException(file + " has no access key");
        }
        return keys;
    }
}
