package lunar.osd.store.directory;

import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;

/** Files that this process has open, as Linux lists them. */
final class OpenDescriptors {
    private static final Path LIST = Path.of("/proc/self/fd");

    private OpenDescriptors() {}

    /** Returns the files in a folder that are open, also deleted ones. Skips the test where there is no list. */
    static Set<Path> under(Path folder) throws IOException {
        assumeThat(LIST).as("list of descriptors").exists();
        var open = new HashSet<Path>();
        try (var all = Files.list(LIST)) {
            for (Path each : (Iterable<Path>) all::iterator) {
                try {
                    open.add(Files.readSymbolicLink(each));
                } catch (NoSuchFileException _) {
                    // closed since it was listed
                }
            }
        }
        open.removeIf(each -> !each.startsWith(folder));
        return open;
    }
}
