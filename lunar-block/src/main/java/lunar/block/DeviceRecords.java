package lunar.block;

import java.io.IOException;
import java.util.Optional;
import java.util.UUID;

/**
 * Remembers across processes which devices were opened, for what cannot be kept with the data themselves: the identity
 * of a file without extended attributes, and that a file which is missing was a disk before. The state directory of
 * {@code lunar serve} is one. Thread-safe.
 */
public interface DeviceRecords {
    /** Remembers nothing. Devices are not given an identity that a process with records would have to accept. */
    DeviceRecords NONE = new DeviceRecords() {
        @Override
        public Optional<String> find(String name) { return Optional.empty(); }

        @Override
        public void keep(String name, String value) {}

        @Override
        public boolean isPersistent() { return false; }

        @Override
        public boolean hasServed(UUID identity) { return false; }
    };

    /**
     * Returns the text that was kept last under a name.
     *
     * @param name lower-case letters, digits and hyphens
     * @throws IOException when the records cannot be read
     */
    Optional<String> find(String name) throws IOException;

    /**
     * Keeps a text in place of the previous one; it is on stable storage when the call returns. Blocks.
     *
     * @param name lower-case letters, digits and hyphens
     * @throws IOException when the records cannot be written
     */
    void keep(String name, String value) throws IOException;

    /** Whether records outlive the process. */
    boolean isPersistent();

    /** Whether a unit with this identity was served from here, by this version or an earlier one. */
    boolean hasServed(UUID identity);

    /** The labels of a device that has none of its own ({@link BlockDevice#labels}); empty where nothing is kept. */
    default Optional<DeviceLabels> labels(Identity identity) {
        return isPersistent() ? Optional.of(new RecordedLabels(this, identity)) : Optional.empty();
    }
}
