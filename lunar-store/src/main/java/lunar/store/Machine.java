package lunar.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Identifier of this machine, for identities that are otherwise not unique. */
final class Machine {
    private static final Path ID = Path.of("/etc/machine-id");

    private Machine() {}

    /** Returns machine-id(5), which must leave the process as part of a hash only; empty if there is none. */
    static String id() {
        try {
            return Files.isReadable(ID) ? Files.readString(ID).strip() : "";
        } catch (IOException _) {
            return "";
        }
    }
}
