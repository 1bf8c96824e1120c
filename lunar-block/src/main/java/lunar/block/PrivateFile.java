package lunar.block;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.Set;

/**
 * Creates files that hold keys and secrets, and checks their owner and mode. The rules are those of PostgreSQL for
 * private keys: such a file belongs to the user of this process, and no other user may read or write it; or it belongs
 * to root, and its group may read it.
 */
public final class PrivateFile {
    /** How a file is exposed to other users; the worst first. */
    public enum Exposure {
        /** Its owner is neither root nor the user of this process. */
        FOREIGN("belongs to another user; chown it"),
        /** Other users can change its content. */
        WRITABLE("can be written by other users; chmod 600 it"),
        /** Other users can read it. */
        READABLE("can be read by other users; chmod 600 it");

        private final String text;

        Exposure(String text) { this.text = text; }

        /** Returns the problem and its remedy, as text to follow the name of the file. */
        @Override
        public String toString() { return text; }
    }

    private static final Set<PosixFilePermission> MODE = PosixFilePermissions
            .fromString("rw-------");
    private static final int ROOT = 0;
    private static final Path SELF = Path.of("/proc/self");

    private PrivateFile() {}

    /**
     * Creates a file with this content, on stable storage, that no other user may read or write (mode 600). Nothing is
     * left of it if that fails.
     *
     * @throws java.nio.file.FileAlreadyExistsException if it exists
     */
    public static void create(Path file, byte[] content) throws IOException {
        boolean hasModes = file.getFileSystem().supportedFileAttributeViews().contains("posix");
        FileAttribute<?>[] mode = hasModes
                ? new FileAttribute<?>[]{PosixFilePermissions.asFileAttribute(MODE)}
                : new FileAttribute<?>[0];
        ByteBuffer bytes = ByteBuffer.wrap(content);
        try (FileChannel channel = FileChannel.open(file,
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), mode)) {
            boolean whole = false;
            try {
                while (bytes.hasRemaining()) {
                    channel.write(bytes);
                }
                channel.force(true);
                whole = true;
            } finally {
                if (!whole) {
                    Files.delete(file);
                }
            }
        }
    }

    /**
     * Checks a file.
     *
     * @return empty if the file is private, or the file system has no owners and modes
     * @throws IOException if owner and mode cannot be read
     */
    public static Optional<Exposure> check(Path file) throws IOException {
        if (!file.getFileSystem().supportedFileAttributeViews().contains("unix")) {
            return Optional.empty();
        }
        int owner = (int) Files.getAttribute(file, "unix:uid");
        int user = Files.exists(SELF) ? (int) Files.getAttribute(SELF, "unix:uid") : owner;
        if (owner != user && owner != ROOT) {
            return Optional.of(Exposure.FOREIGN);
        }
        Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(file);
        if (permissions.contains(PosixFilePermission.GROUP_WRITE)
                || permissions.contains(PosixFilePermission.OTHERS_WRITE)) {
            return Optional.of(Exposure.WRITABLE);
        }
        boolean groupMayRead = owner == ROOT && user != ROOT;
        return permissions.contains(PosixFilePermission.OTHERS_READ)
                || (permissions.contains(PosixFilePermission.GROUP_READ) && !groupMayRead)
                        ? Optional.of(Exposure.READABLE)
                        : Optional.empty();
    }
}
