package lunar.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import lunar.block.DeviceRecords;

/** Identifier of this machine, for identities that are otherwise not unique. */
final class Machine {
    private static final Path ID = Path.of("/etc/machine-id");
    private static final String RECORD = "machine-id";
    /** Content of the file before the first boot of an image, machine-id(5). */
    private static final String UNINITIALIZED = "uninitialized";

    private Machine() {}

    /** Returns machine-id(5), which must leave the process as part of a hash only; empty if there is none. */
    static String id() {
        return id(ID);
    }

    static String id(Path file) {
        try {
            String text = Files.isReadable(file) ? Files.readString(file).strip() : "";
            return text.equals(UNINITIALIZED) ? "" : text;
        } catch (IOException _) {
            return "";
        }
    }

    /**
     * Returns the identifier of this machine; empty if it has none. If the system has none, as in many container
     * images, records that persist get a random one, which remains valid when the system gets its own later.
     */
    static String id(DeviceRecords records) throws IOException { return id(ID, records); }

    static String id(Path file, DeviceRecords records) throws IOException {
        String kept = records.find(RECORD).orElse("");
        if (!kept.isEmpty()) {
            return kept;
        }
        String system = id(file);
        if (!system.isEmpty() || !records.isPersistent()) {
            return system;
        }
        String own = UUID.randomUUID().toString();
        records.keep(RECORD, own);
        return own;
    }
}
