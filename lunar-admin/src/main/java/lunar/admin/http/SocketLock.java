package lunar.admin.http;

import java.io.IOException;
import java.net.ConnectException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Exclusive right to a Unix socket, held by a lock on the file {@code PATH.lock} until it is closed or the process
 * ends. The lock file is deleted with it; because a lock on a deleted file excludes no other process, each new lock
 * checks that its file is still the one at the path. Thread-safe.
 */
public final class SocketLock implements AutoCloseable {
    private static final int MAX_TRIES = 10;
    private static final String SUFFIX = ".lock";
    private static final int FILE_TYPE = 0170000;
    private static final int SOCKET = 0140000;
    private static final int STICKY = 01000;
    private static final int OTHERS_WRITE = 02;
    /** Lock files of this process: a second channel of one would release the lock when it is closed. */
    private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

    private final Path file;
    private final FileChannel channel;

    private SocketLock(Path file, FileChannel channel) {
        this.file = file;
        this.channel = channel;
    }

    /**
     * Acquires the lock, and removes the socket if the server that created it no longer runs.
     *
     * @throws IOException if another server has the socket, another kind of file has its path, or its directory is
     *         missing or open to others; one line for the operator
     */
    public static SocketLock acquire(Path socket) throws IOException {
        Path directory = directoryOf(socket);
        Path file = directory.toRealPath().resolve(socket.getFileName() + SUFFIX);
        if (!HELD.add(file)) {
            throw inUse(socket);
        }
        FileChannel channel = null;
        try {
            channel = lock(file, socket);
        } finally {
            if (channel == null) {
                HELD.remove(file);
            }
        }
        var lock = new SocketLock(file, channel);
        boolean done = false;
        try {
            removeStale(socket);
            done = true;
            return lock;
        } finally {
            if (!done) {
                lock.close();
            }
        }
    }

    /** Whether a process listens on a Unix socket. */
    public static boolean isAlive(Path socket) {
        try (var _ = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            return true;
        } catch (IOException _) {
            return false;
        }
    }

    private static Path directoryOf(Path socket) throws IOException {
        Path directory = socket.toAbsolutePath().getParent();
        if (directory == null || !Files.isDirectory(directory)) {
            throw new IOException("the directory of the admin socket " + socket
                    + " does not exist: create it, or choose another path");
        }
        int mode = (Integer) Files.getAttribute(directory, "unix:mode");
        if ((mode & OTHERS_WRITE) != 0 && (mode & STICKY) == 0) {
            throw new IOException("other users can replace the admin socket " + socket
                    + ": chmod o-w " + directory + ", or choose another path");
        }
        return directory;
    }

    private static FileChannel lock(Path file, Path socket) throws IOException {
        for (int i = 0; i < MAX_TRIES; i++) {
            try {
                create(file);
                List<Object> before = identity(file);
                FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE,
                        LinkOption.NOFOLLOW_LINKS);
                boolean done = false;
                try {
                    if (channel.tryLock() == null) {
                        throw inUse(socket);
                    }
                    done = identity(file).equals(before);
                    if (done) {
                        return channel;
                    }
                } finally {
                    if (!done) {
                        channel.close();
                    }
                }
            } catch (NoSuchFileException _) {
                // deleted in between by the server that had it
            }
        }
        throw inUse(socket);
    }

    private static void create(Path file) throws IOException {
        try {
            Files.createFile(file, PosixFilePermissions.asFileAttribute(
                    PosixFilePermissions.fromString("rw-------")));
        } catch (FileAlreadyExistsException _) {
            // of a server that runs or was killed
        } catch (IOException e) {
            throw new IOException("cannot create the lock file of the admin socket: "
                    + reason(e), e);
        }
    }

    /** Returns what differs between two files that have had a path, even if they have the inode in common. */
    private static List<Object> identity(Path file) throws IOException {
        BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class,
                LinkOption.NOFOLLOW_LINKS);
        return List.of(String.valueOf(attributes.fileKey()), attributes.creationTime());
    }

    private static void removeStale(Path socket) throws IOException {
        if (!Files.exists(socket, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        int mode = (Integer) Files.getAttribute(socket, "unix:mode", LinkOption.NOFOLLOW_LINKS);
        if ((mode & FILE_TYPE) != SOCKET) {
            throw new IOException(socket + " exists and is not a socket: choose another path for"
                    + " the admin socket, or remove the file");
        }
        try (var _ = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            throw inUse(socket);
        } catch (ConnectException _) { // nobody listens: its server was killed
            Files.delete(socket);
        }
    }

    private static IOException inUse(Path socket) {
        return new IOException("another server has the admin socket " + socket
                + ": stop it, or choose another socket");
    }

    /** Returns the reason of a failure of the file system, whose message alone can be a path. */
    static String reason(IOException e) {
        return e.getClass().getSimpleName().replace("Exception", "") + ": " + e.getMessage();
    }

    @Override
    public void close() {
        try (channel) {
            if (channel.size() == 0) { // else a file of the user that has this name by chance
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            System.getLogger("lunar.admin").log(System.Logger.Level.DEBUG, "a lock", e);
        } finally {
            HELD.remove(file);
        }
    }
}
