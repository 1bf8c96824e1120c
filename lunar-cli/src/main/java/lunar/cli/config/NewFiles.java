package lunar.cli.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import lunar.block.Devices;

/** Files that a command creates by opening their URIs, and removes again if it fails. */
public final class NewFiles {
    private static final String FILE = "file:";

    private final List<Path> files;

    private NewFiles(List<Path> files) { this.files = files; }

    /** Notes which files of these URIs do not exist yet; call it before they are opened. */
    public static NewFiles of(List<String> uris) {
        var absent = new ArrayList<Path>();
        for (String uri : uris) {
            String bare = Devices.withoutFilters(uri);
            if (bare.startsWith(FILE)) {
                Path path = Path.of(bare.substring(FILE.length()).replaceFirst("[?].*", ""));
                if (!Files.exists(path)) {
                    absent.add(path);
                }
            }
        }
        return new NewFiles(List.copyOf(absent));
    }

    /** Deletes those that exist by now, after they were closed. */
    public void remove() throws IOException {
        for (Path file : files) {
            Files.deleteIfExists(file);
        }
    }
}
