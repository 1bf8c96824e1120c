package lunar.cli.raid.control;

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
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Directory of the sockets through which commands reach volumes. Only its owner may enter it, so a client of a socket
 * belongs to the user that runs the volume. A socket does not prove that a volume is running; its members do.
 *
 * @param directory path of the directory
 */
public record ControlDirectory(Path directory) {
    /** Bytes of the longest path that a socket can have (sockaddr_un, less its end). */
    public static final int MAX_PATH_BYTES = 107;

    private static final int MAX_SOCKETS = 1024;
    private static final int MAX_TRIES = 500;
    private static final long TRY_MS = 10;
    private static final String SOCKET = ".sock";
    private static final String SERVER = "serve-";
    private static final String ADMIN = ".admin";
    private static final Pattern ADMIN_NAME = Pattern
            .compile("serve-(\\d{1,18})(?:-\\d+)?\\.admin");
    private static final String LONGEST = new UUID(0, 0) + "-" + Integer.MAX_VALUE;
    private static final String LOCK = ".lock";
    private static final Path TEMPORARY = Path.of("/tmp");
    /** {@code RuntimeDirectory=} of the systemd unit; only the service's user can use it. */
    private static final Path SERVICE = Path.of("/run/lunar-server");
    private static final Set<PosixFilePermission> PRIVATE = PosixFilePermissions
            .fromString("rwx------");

    /**
     * Returns the first directory that only the user of this process can enter, and creates it if it does not exist.
     * Skips directories created by another user.
     */
    public static ControlDirectory ofUser() throws IOException {
        List<ControlDirectory> all = all();
        IOException why = null;
        for (ControlDirectory place : all) {
            try {
                place.prepare();
                return place;
            } catch (IOException e) {
                why = e;
                System.getLogger("lunar.cli").log(System.Logger.Level.DEBUG,
                        "cannot use {0} for control sockets: {1}",
                        place.directory, e.getMessage());
            }
        }
        try { // with a name that cannot be guessed
            return new ControlDirectory(
                    Files.createTempDirectory(TEMPORARY, "lunar-" + user() + "-",
                            PosixFilePermissions.asFileAttribute(PRIVATE)));
        } catch (IOException e) {
            throw why == null ? e : why;
        }
    }

    /** Returns all possible directories of this user's volumes, in order of preference. */
    static List<ControlDirectory> all() throws IOException {
        String only = System.getenv("LUNAR_RUNTIME_DIR");
        if (only != null && !only.isEmpty()) {
            return List.of(new ControlDirectory(Path.of(only).toAbsolutePath()));
        }
        var bases = new ArrayList<Path>();
        String runtime = System.getenv("XDG_RUNTIME_DIR");
        if (runtime != null && !runtime.isEmpty()) {
            bases.add(Path.of(runtime).toAbsolutePath());
        }
        int user = user();
        bases.add(user == 0 ? Path.of("/run") : Path.of("/run/user/" + user));
        bases.add(SERVICE);
        bases.add(Path.of(System.getProperty("user.home", "/nowhere"), ".cache"));
        var all = new ArrayList<ControlDirectory>();
        bases.stream().filter(Files::isDirectory)
                .forEach(base -> all.add(new ControlDirectory(base.resolve("lunar"))));
        all.add(Math.min(all.size(), 2), new ControlDirectory(TEMPORARY.resolve("lunar-" + user)));
        return all;
    }

    private static int user() throws IOException {
        return (Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
    }

    /**
     * Creates the directory if it does not exist; rejects one that others may enter, or with a name that is too long.
     */
    void prepare() throws IOException {
        var _ = socket(LONGEST);
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
            throw new IOException(directory + " is not a private directory of this user (mode"
                    + " 0700): remove it, or set XDG_RUNTIME_DIR to such a directory");
        }
    }

    /** The socket of a volume. */
    Path socket(UUID volume) throws IOException {
        return socket(volume.toString());
    }

    /** The socket of a volume that this process runs beside one that has {@link #socket} and may hang. */
    Path socketBeside(UUID volume) throws IOException {
        return socket(volume + "-" + ProcessHandle.current().pid());
    }

    /** Whether a socket is of a volume. */
    static boolean isOf(Path socket, UUID volume) {
        return String.valueOf(socket.getFileName()).startsWith(volume.toString());
    }

    /**
     * The admin socket of a server that this process runs.
     *
     * @param number of the server; 1 is the first one of the process
     */
    public Path adminSocket(int number) throws IOException {
        return path(SERVER + ProcessHandle.current().pid() + (number == 1 ? "" : "-" + number)
                + ADMIN);
    }

    /** Returns the process that has created an admin socket in its default place; empty for another path. */
    public static OptionalLong adminProcess(Path socket) {
        Matcher name = ADMIN_NAME.matcher(String.valueOf(socket.getFileName()));
        return name.matches()
                ? OptionalLong.of(Long.parseLong(name.group(1)))
                : OptionalLong.empty();
    }

    /** Returns the admin sockets of all servers of this user in the usual places, that run or were killed. */
    public static List<Path> adminSockets() throws IOException {
        var sockets = new ArrayList<Path>();
        for (ControlDirectory place : all()) {
            sockets.addAll(place.entries(SERVER + "*" + ADMIN));
        }
        return sockets;
    }

    private Path socket(String name) throws IOException { return path(name + SOCKET); }

    private Path path(String name) throws IOException {
        Path path = directory.resolve(name);
        if (path.toString().getBytes(StandardCharsets.UTF_8).length > MAX_PATH_BYTES) {
            throw new IOException(path + " is too long for a socket path: set XDG_RUNTIME_DIR"
                    + " to a shorter path");
        }
        return path;
    }

    /** All sockets that there are, of volumes that run or were killed; none where others may enter. */
    List<Path> sockets() throws IOException {
        return entries("*" + SOCKET);
    }

    private List<Path> entries(String glob) throws IOException {
        try {
            requirePrivate();
        } catch (IOException _) {
            return List.of();
        }
        var sockets = new ArrayList<Path>();
        try (var entries = Files.newDirectoryStream(directory, glob)) {
            for (Path entry : entries) {
                if (sockets.size() < MAX_SOCKETS) {
                    sockets.add(entry);
                }
            }
        }
        sockets.sort(null);
        return sockets;
    }

    /** Exclusive lock to run a volume, until it is closed or the process ends. */
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
     * Acquires the lock of this user's processes for changing a config file, which is held for milliseconds. Blocks.
     *
     * @throws IOException if another process does not release it
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
        throw new IOException(
                "another process holds the lock for changing config files; end that process");
    }

    /** Empty where another process has it, or this one. */
    private static Optional<FileLock> tried(FileChannel file) throws IOException {
        try {
            return Optional.ofNullable(file.tryLock());
        } catch (OverlappingFileLockException _) {
            return Optional.empty();
        }
    }

    /** The right to the socket of a volume; empty if another process of this user has it, or this one. */
    Optional<Right> claim(UUID volume) throws IOException {
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
        return lock.map(held -> new Right(file, held));
    }
}
