package lunar.cli.raid;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import lunar.block.BusyException;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;

/**
 * The directory of the sockets: {@code $XDG_RUNTIME_DIR/lunar}, else {@code /tmp/lunar-UID}. Only its owner may enter
 * it, so whoever reaches a socket is the user that runs the volume.
 *
 * @param directory where they are
 */
public record ControlPlace(Path directory) {
    /** Bytes of the longest name that a socket can have (sockaddr_un, less its end). */
    private static final int MAX_PATH_BYTES = 107;
    private static final int MAX_SOCKETS = 1024;
    private static final int MAX_TRIES = 500;
    private static final long TRY_MS = 10;
    private static final String SOCKET = ".sock";
    private static final String LOCK = ".lock";
    private static final Set<PosixFilePermission> PRIVATE = PosixFilePermissions
            .fromString("rwx------");

    /** That of the user who runs this process; it may not be there yet. */
    public static ControlPlace ofUser() throws IOException {
        String runtime = System.getenv("XDG_RUNTIME_DIR");
        if (runtime != null && !runtime.isEmpty() && Files.isDirectory(Path.of(runtime))) {
            return new ControlPlace(Path.of(runtime).toAbsolutePath().resolve("lunar"));
        }
        return new ControlPlace(Path.of("/tmp/lunar-" + user()));
    }

    private static int user() throws IOException {
        return (Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
    }

    /** Makes the directory, where it is not there, and refuses one that others may enter. */
    void prepare() throws IOException {
        try {
            Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(PRIVATE));
        } catch (FileAlreadyExistsException _) {
            // It is looked at, as a new one is.
        }
        requirePrivate();
    }

    private void requirePrivate() throws IOException {
        boolean isOurs = Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)
                && Files.getPosixFilePermissions(directory, LinkOption.NOFOLLOW_LINKS)
                        .equals(PRIVATE)
                && Files.getAttribute(directory, "unix:uid", LinkOption.NOFOLLOW_LINKS)
                        .equals(user());
        if (!isOurs) {
            throw new IOException(directory + " must be a directory that is yours alone (mode"
                    + " 0700): remove it, or set XDG_RUNTIME_DIR to a directory of yours");
        }
    }

    /** The socket of a volume. */
    Path socket(UUID volume) throws IOException {
        Path path = directory.resolve(volume + SOCKET);
        if (path.toString().getBytes(StandardCharsets.UTF_8).length > MAX_PATH_BYTES) {
            throw new IOException(path + " is too long a name for a socket: set XDG_RUNTIME_DIR"
                    + " to a shorter one");
        }
        return path;
    }

    /** All sockets that there are, of volumes that run or were killed. */
    List<Path> sockets() throws IOException {
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        requirePrivate();
        var sockets = new ArrayList<Path>();
        try (var entries = Files.newDirectoryStream(directory, "*" + SOCKET)) {
            for (Path entry : entries) {
                if (sockets.size() < MAX_SOCKETS) {
                    sockets.add(entry);
                }
            }
        }
        sockets.sort(null);
        return sockets;
    }

    /** The sole right to run a volume, until it is closed or the process ends, in whatever way. */
    public record Right(FileChannel file, FileLock lock) implements AutoCloseable {
        @Override
        public void close() {
            try (file) {
                lock.release();
            } catch (IOException e) {
                System.getLogger("lunar.cli").log(System.Logger.Level.DEBUG, "a lock", e);
            }
        }
    }

    /**
     * The sole right of this user's processes to change a config file, which takes them some milliseconds. Blocks.
     *
     * @throws IOException where another process does not let go of it
     */
    public Right configs() throws IOException {
        prepare();
        FileChannel file = FileChannel.open(directory.resolve("config" + LOCK),
                StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        boolean done = false;
        try {
            for (int i = 0; i < MAX_TRIES; i++) {
                Optional<FileLock> lock = tried(file);
                if (lock.isPresent()) {
                    done = true;
                    return new Right(file, lock.get());
                }
                Thread.sleep(TRY_MS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        } finally {
            if (!done) {
                file.close();
            }
        }
        throw new IOException("another process is changing a config file, and does not end");
    }

    /** Empty where another process has it, or this one. */
    private static Optional<FileLock> tried(FileChannel file) throws IOException {
        try {
            return Optional.ofNullable(file.tryLock());
        } catch (OverlappingFileLockException _) {
            return Optional.empty();
        }
    }

    /** @throws BusyException when another process of this user has it, or this one */
    Right claim(UUID volume, String title) throws StorageException {
        try {
            prepare();
            FileChannel file = FileChannel.open(directory.resolve(volume + LOCK),
                    StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            Optional<FileLock> lock = Optional.empty();
            try {
                lock = tried(file);
            } finally {
                if (lock.isEmpty()) {
                    file.close();
                }
            }
            return new Right(file, lock.orElseThrow(() -> new BusyException(title
                    + " runs already, in another process or here: 'lunar raid status " + title
                    + "' tells where, 'lunar raid stop " + title + "' ends it")));
        } catch (StorageException e) {
            throw e;
        } catch (IOException e) {
            throw new DeviceGoneException(String.valueOf(e.getMessage()), e);
        }
    }
}
