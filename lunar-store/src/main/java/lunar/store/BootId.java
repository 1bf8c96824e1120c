package lunar.store;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;

/**
 * Identifies the current boot of the system: the page cache survives processes and is lost at reboot.
 */
final class BootId {
    private static final Path LINUX = Path.of("/proc/sys/kernel/random/boot_id");
    private static final UUID THIS_BOOT = read();

    private BootId() {}

    /** Returns the ID of this boot, for all processes; where the system does not tell, one of this process alone. */
    static UUID get() {
        return THIS_BOOT;
    }

    private static UUID read() {
        try {
            String text = Files.readString(LINUX, StandardCharsets.US_ASCII).strip();
            return UUID.nameUUIDFromBytes(("boot " + text).getBytes(StandardCharsets.US_ASCII));
        } catch (IOException | RuntimeException _) {
            return UUID.randomUUID();
        }
    }
}
