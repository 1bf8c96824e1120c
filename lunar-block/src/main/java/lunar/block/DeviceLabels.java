package lunar.block;

import java.io.IOException;
import java.util.Optional;

/**
 * Short texts that are kept with the data of a device and move with them, such as extended attributes of a file.
 * Thread-safe.
 */
public interface DeviceLabels {
    /**
     * Returns the text that was written last under a name.
     *
     * @param name lower-case letters, digits and hyphens
     * @throws IOException when it cannot be read
     */
    Optional<String> read(String name) throws IOException;

    /**
     * Writes a text in place of the previous one; it is on stable storage when the call returns. Blocks.
     *
     * @param name lower-case letters, digits and hyphens
     * @param value at most 1,024 ASCII characters
     * @throws IOException when it cannot be written, because the medium is write-protected for example
     */
    void write(String name, String value) throws IOException;
}
