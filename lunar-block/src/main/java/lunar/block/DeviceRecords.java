package lunar.block;

import java.io.IOException;
import java.util.Optional;
import java.util.UUID;

/**
 * Persistent records about devices that cannot be stored with the data: the identity of a file without extended
 * attributes, or that a missing file was a disk before. The state directory of {@code lunar serve} is an example.
 * Thread-safe.
 */
public interface DeviceRecords {
    /** Stores nothing. Devices do not get an identity that a process with records would have to accept. */
    DeviceRecords NONE = new DeviceRecords() {
        @Override
        public Optional<String> find(String name) { return Optional.empty(); }

        @Override
        public void keep(String name, String value) {}

        @Override
        public boolean isPersistent() { return false; }

        @Override
        public boolean hasServed(UUID identity) { return false; }

        @Override
        public boolean settlesIdentities() { return false; }
    };

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

    /** Whether records outlive the process. */
    boolean isPersistent();

    /** Whether a server with these records, of this version or an earlier one, has served a unit of this identity. */
    boolean hasServed(UUID identity);

    /** Whether the identity that a device gets with these records is final: the device may be labelled with it. */
    default boolean settlesIdentities() {
        return true;
    }

    /**
     * Returns the records about connections of devices to their storage; empty if there are none that outlive the
     * process, or if another live process uses them.
     */
    default Optional<ConnectionRecords> connections() { return Optional.empty(); }

    /**
     * Returns records for the members of a device, which are never seen by hosts: nothing is recorded of their
     * identities, only of their connections.
     */
    default DeviceRecords ofMembers() { return new RecordsOfMembers(connections()); }

    /** Returns labels for a device that has none ({@link BlockDevice#labels}); empty if records do not persist. */
    default Optional<DeviceLabels> labels(Identity identity) {
        return isPersistent() ? Optional.of(new RecordedLabels(this, identity)) : Optional.empty();
    }
}
