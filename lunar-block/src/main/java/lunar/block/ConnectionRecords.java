package lunar.block;

import java.io.IOException;
import java.util.Optional;

/**
 * Persistent records about connections of devices to their storage, for example the sessions of {@code iscsi:} devices:
 * a process that is killed leaves them to the next one, which ends them before it writes. No other live process uses
 * the records: it would take the connections of this one for those of a killed process. Thread-safe.
 */
public interface ConnectionRecords {
    /**
     * Returns the text of a name; empty if none was stored.
     *
     * @param name lower-case letters, digits and hyphens
     * @throws IOException if the records cannot be read
     */
    Optional<String> find(String name) throws IOException;

    /**
     * Stores the text of a name, replacing the previous one; it is on stable storage when the call returns. Blocks.
     *
     * @param name lower-case letters, digits and hyphens
     * @throws IOException if the records cannot be written
     */
    void keep(String name, String value) throws IOException;

    /**
     * Removes the text of a name, if there is one; the removal is on stable storage when the call returns. Blocks.
     *
     * @param name lower-case letters, digits and hyphens
     * @throws IOException if the records cannot be written
     */
    void remove(String name) throws IOException;
}
