package lunar.block;

import java.io.IOException;
import java.util.Optional;

/**
 * Short texts that are stored with the data of a device and move with them, such as extended attributes of a file.
 * Thread-safe.
 */
public interface DeviceLabels {
    /**
     * Returns the text of a name; empty if none was written.
     *
     * @param name lower-case letters, digits and hyphens
     * @throws IOException if it cannot be read
     */
    Optional<String> read(String name) throws IOException;

    /**
     * Writes the text of a name, replacing the previous one; it is on stable storage when the call returns. Blocks.
     *
     * @param name lower-case letters, digits and hyphens
     * @param value at most 1,024 ASCII characters
     * @throws IOException if it cannot be written, for example because the medium is write-protected
     */
    void write(String name, String value) throws IOException;
}
