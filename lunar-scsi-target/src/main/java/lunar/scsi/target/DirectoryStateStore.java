package lunar.scsi.target;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * Stores each state in a file of its own, followed by its CRC32C in four bytes. A new state is written to a temporary
 * file, forced to stable storage, and renamed over the old one.
 */
final class DirectoryStateStore implements StateStore {
    private static final int CHECKSUM_BYTES = 4;

    private final Path directory;

    DirectoryStateStore(Path directory) throws IOException {
        this.directory = directory;
        create(directory.toAbsolutePath());
    }

    /** Creates a directory, with those above it; each is on stable storage before something is saved in it. */
    private static void create(Path directory) throws IOException {
        Path parent = directory.getParent();
        if (Files.isDirectory(directory) || parent == null) {
            return;
        }
        create(parent);
        Files.createDirectories(directory); // another process may have done so by now
        force(parent);
    }

    private static void force(Path directory) throws IOException {
        try (FileChannel entries = FileChannel.open(directory)) {
            entries.force(true);
        }
    }

    @Override
    public Optional<byte[]> load(String name) throws IOException {
        byte[] file;
        try {
            file = Files.readAllBytes(path(name));
        } catch (NoSuchFileException _) {
            return Optional.empty();
        }
        int length = file.length - CHECKSUM_BYTES;
        if (length < 0 || ByteBuffer.wrap(file).getInt(length) != checksum(file, length)) {
            throw new IOException("state file " + path(name)
                    + " is damaged; restore it from a backup, or remove it to start without this state");
        }
        return Optional.of(Arrays.copyOf(file, length));
    }

    @Override
    public synchronized void save(String name, byte[] state) throws IOException {
        Path wanted = path(name);
        Path fresh = directory.resolve(name + ".new");
        ByteBuffer bytes = ByteBuffer.allocate(state.length + CHECKSUM_BYTES).put(state)
                .putInt(checksum(state, state.length)).flip();
        try (FileChannel file = FileChannel.open(fresh, StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
            while (bytes.hasRemaining()) {
                file.write(bytes);
            }
            file.force(true);
        }
        Files.move(fresh, wanted, StandardCopyOption.ATOMIC_MOVE,
                StandardCopyOption.REPLACE_EXISTING);
        force(directory); // the rename itself
    }

    @Override
    public synchronized void remove(String name) throws IOException {
        if (Files.deleteIfExists(path(name))) {
            force(directory);
        }
    }

    @Override
    public boolean isPersistent() { return true; }

    private Path path(String name) {
        if (!name.matches("[a-z0-9-]+")) {
            throw new IllegalArgumentException("invalid state name: " + name);
        }
        return directory.resolve(name);
    }

    private static int checksum(byte[] bytes, int length) {
        var crc = new CRC32C();
        crc.update(bytes, 0, length);
        return (int) crc.getValue();
    }
}
