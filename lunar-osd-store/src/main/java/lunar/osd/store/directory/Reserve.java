package lunar.osd.store.directory;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A file that keeps space for removals: these need some for the write-ahead log, before they free any. Once a commit
 * finds the file system full, the file is deleted, and what makes the store larger is refused until there is room for
 * the file again. Thread-safe.
 */
final class Reserve {
    private static final System.Logger LOG = System.getLogger(Reserve.class.getName());
    private static final int BYTES = 8 << 20;
    private static final int PIECE = 1 << 20;
    /** Space that has to be free for the file to be created again, so that it is not deleted soon. */
    private static final long ROOM = 4L * BYTES; // docs/osd-store.md

    private final StoreDirectory directory;
    private final Space space;

    Reserve(StoreDirectory directory, Space space) {
        this.directory = directory;
        this.space = space;
        space.whenFull(this::release);
    }

    private synchronized void release() {
        LOG.log(System.Logger.Level.WARNING, "object store {0}: no space left on the file system;"
                + " until there is, objects can only be read and removed", directory);
        try {
            Files.deleteIfExists(directory.reserve());
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "reserve", e);
        }
    }

    /** Creates the file, if there is room; then the store may grow. */
    synchronized void restore() {
        Path file = directory.reserve();
        boolean full = space.isFull();
        try {
            if (!full && Files.exists(file) && Files.size(file) == BYTES) {
                return;
            }
            if (Files.getFileStore(directory.path()).getUsableSpace() < ROOM) {
                return;
            }
            write(file);
            if (full) {
                space.hasRoom();
                LOG.log(System.Logger.Level.INFO, "object store {0}: there is space again",
                        directory);
            }
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "reserve", e);
        }
    }

    private void write(Path file) throws IOException {
        Files.deleteIfExists(file);
        directory.createFile(file);
        byte[] zeros = new byte[PIECE];
        try (OutputStream out = Files.newOutputStream(file)) {
            for (int at = 0; at < BYTES; at += PIECE) {
                out.write(zeros);
            }
        }
    }
}
