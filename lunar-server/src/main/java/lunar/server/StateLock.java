package lunar.server;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The lock of a state directory, which one live server has; the system releases that of a killed process. */
final class StateLock implements AutoCloseable {
    private static final String NAME = ".lock";

    /** Closing any channel of a file releases all locks that the process has on it (fcntl(2)). */
    private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

    private final Path held;
    private final FileChannel channel;

    private StateLock(Path held, FileChannel channel) {
        this.held = held;
        this.channel = channel;
    }

    /**
     * Locks a directory; empty if another server has the lock.
     *
     * @throws IOException if the file system has no locks, or the file cannot be created
     */
    static Optional<StateLock> of(Path directory) throws IOException {
        Path held = directory.toRealPath();
        if (!HELD.add(held)) {
            return Optional.empty();
        }
        FileChannel channel = null;
        boolean locked = false;
        try {
            channel = FileChannel.open(held.resolve(NAME), StandardOpenOption.CREATE,
                    StandardOpenOption.WRITE);
            locked = channel.tryLock() != null;
            return locked ? Optional.of(new StateLock(held, channel)) : Optional.empty();
        } catch (OverlappingFileLockException _) { // by a link, or another class loader
            return Optional.empty();
        } finally {
            if (!locked) {
                HELD.remove(held);
                if (channel != null) {
                    channel.close();
                }
            }
        }
    }

    @Override
    public void close() throws IOException {
        try {
            channel.close();
        } finally {
            HELD.remove(held);
        }
    }
}
