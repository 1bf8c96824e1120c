package lunar.store;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Marker file {@code disk.img.lunar-lost} next to an image, which records that acknowledged writes of the image may be
 * lost. It outlives the process, and is removed when an operator accepts the loss ({@code lunar accept-loss}) or the
 * image is recreated.
 */
final class LostWritesMarker {
    /** Appended to the name of the image. */
    static final String SUFFIX = ".lunar-lost";

    private final Path path;

    private LostWritesMarker(Path path) { this.path = path; }

    /** The marker of an image. */
    static LostWritesMarker of(Path image) {
        return new LostWritesMarker(image.resolveSibling(image.getFileName() + SUFFIX));
    }

    Path path() { return path; }

    boolean exists() { return Files.exists(path); }

    /** Whether it is known not to be there. */
    boolean isGone() { return Files.notExists(path); }

    /** Returns what happened, in one line. */
    String text() throws IOException {
        return Files.readString(path, StandardCharsets.UTF_8).strip();
    }

    /** Writes it, on stable storage when the call returns. One that is there is replaced. */
    void write(String text) throws IOException {
        Files.writeString(path, text + "\n", StandardCharsets.UTF_8, StandardOpenOption.CREATE,
                StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.DSYNC);
        syncFolder();
    }

    /** Removes it, for good when the call returns. */
    void remove() throws IOException {
        if (Files.deleteIfExists(path)) {
            syncFolder();
        }
    }

    private void syncFolder() throws IOException {
        Path folder = path.toAbsolutePath().getParent();
        if (folder != null) {
            try (FileChannel entries = FileChannel.open(folder)) {
                entries.force(true);
            }
        }
    }

    @Override
    public String toString() { return path.toString(); }
}
