package lunar.it;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;

/**
 * Library to preload that makes fdatasync(2) of one file fail once for each call of {@link #arm}: see {@code
 * faults/failing-fdatasync.c}. Needs a C compiler; without one the test is skipped.
 */
final class FailingSync {
    private final Path library;
    private final Path trigger;
    private final Path image;

    FailingSync(Path folder, Path image) throws Exception {
        Peer.assume("cc");
        this.image = image;
        library = folder.resolve("failing-fdatasync.so");
        trigger = folder.resolve("trigger");
        Path source = folder.resolve("failing-fdatasync.c");
        try (InputStream text = Objects.requireNonNull(
                FailingSync.class.getResourceAsStream("/faults/failing-fdatasync.c"))) {
            Files.copy(text, source);
        }
        Peer.run("cc", "-shared", "-fPIC", "-o", library.toString(), source.toString(), "-ldl")
                .succeeded();
    }

    /** Environment that a process needs to get the failure. */
    Map<String, String> environment() throws IOException {
        return Map.of("LD_PRELOAD", library.toString(), "LUNAR_FAULT_FILE",
                image.toRealPath().toString(), "LUNAR_FAULT_TRIGGER", trigger.toString());
    }

    /** The next sync of the file fails, with EIO. */
    void arm() throws IOException {
        Files.createFile(trigger);
    }

    /** Whether it has failed since {@link #arm}. */
    boolean hasFailed() {
        return Files.notExists(trigger);
    }
}
