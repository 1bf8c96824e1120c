package lunar.block;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Optional;
import java.util.Set;

/**
 * Checks the owner and the mode of files that hold keys and secrets. The rules are those of PostgreSQL for private
 * keys: such a file belongs to the user of this process, and no other user may read or write it; or it belongs to
 * root, and its group may read it.
 */
public final class PrivateFile {
    /** The ways in which a file is exposed, the worst first. */
    public enum Exposure {
        /** It belongs to a user who is neither root nor the user of this process. */
        FOREIGN("belongs to another user; chown it"),
        /** Others can replace its content. */
        WRITABLE("can be written by other users; chmod 600 it"),
        /** Others can read it. */
        READABLE("can be read by other users; chmod 600 it");

        private final String text;

        Exposure(String text) { this.text = text; }

        /** Returns what is wrong and what to do, to follow the name of the file. */
        @Override
        public String toString() { return text; }
    }

    private static final int ROOT = 0;
    private static final Path SELF = Path.of("/proc/self");

    private PrivateFile() {}

    /**
     * Looks at a file; empty where it is private, and on systems without such modes.
     *
     * @throws IOException when the file cannot be looked at
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
