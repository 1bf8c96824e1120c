package lunar.cli.config;

import lunar.cli.command.Failure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lunar.block.Devices;

/** Files that a command creates by opening their URIs, and removes again if it fails. */
public final class NewFiles {
    private static final String SCHEME = "file:";

    private final List<Path> files;

    private NewFiles(List<Path> files) { this.files = files; }

    /** Notes which files of these URIs do not exist yet; call it before they are opened. */
    public static NewFiles of(List<String> uris) throws Failure {
        var absent = new ArrayList<Path>();
        for (String uri : uris) {
            file(Devices.withoutFilters(uri)).filter(path -> !Files.exists(path))
                    .ifPresent(absent::add);
        }
        return new NewFiles(List.copyOf(absent));
    }

    /** Returns the file of a URI; empty for other devices, and for one with filters before it. */
    public static Optional<Path> file(String uri) throws Failure {
        if (!uri.startsWith(SCHEME)) {
            return Optional.empty();
        }
        try {
            return Optional.of(Path.of(uri.substring(SCHEME.length()).replaceFirst("[?].*", "")));
        } catch (InvalidPathException e) {
            throw new Failure("'" + uri + "' is no path: " + e.getReason(), e);
        }
    }

    /** Deletes those that exist by now, after they were closed. */
    public void remove() throws IOException {
        for (Path file : files) {
            Files.deleteIfExists(file);
        }
    }
}
