package lunar.server;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The lock of a state directory, which one live server has; the system releases that of a killed process. */
final class StateLock implements AutoCloseable {
    private static final String NAME = ".lock";
    private static final long PAUSE_MS = 100;

    /** Closing any channel of a file releases all locks that the process has on it (fcntl(2)). */
    private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

    private final Path held;
    private final FileChannel channel;

    private StateLock(Path held, FileChannel channel) {
        this.held = held;
        this.channel = channel;
    }

    /** Bounds the wait for a lock. */
    private static final class Wait {
        private final long untilNanos;
        private final Runnable begins;
        private boolean hasBegun;

        Wait(Duration patience, Runnable begins) {
            untilNanos = System.nanoTime() + patience.toNanos();
            this.begins = begins;
        }

        /** Pauses before the next attempt; returns false if it is not worth while. */
        boolean again() {
            if (untilNanos - System.nanoTime() <= 0) {
                return false;
            }
            if (!hasBegun) {
                hasBegun = true;
                begins.run();
            }
            try {
                Thread.sleep(PAUSE_MS);
                return true;
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
                return false;
            }
        }
    }

    /**
     * Locks a directory; empty if another server has the lock all the time. Blocks.
     *
     * @param patience how long to wait for the other server, which may be stopping
     * @param waits run when the wait begins
     * @throws IOException if the file system has no locks, or the file cannot be created
     */
    static Optional<StateLock> of(Path directory, Duration patience, Runnable waits)
            throws IOException {
        Path held = directory.toRealPath();
        var wait = new Wait(patience, waits);
        while (!HELD.add(held)) {
            if (!wait.again()) {
                return Optional.empty();
            }
        }
        FileChannel channel = null;
        boolean locked = false;
        boolean overlaps = false;
        try {
            channel = FileChannel.open(held.resolve(NAME), StandardOpenOption.CREATE,
                    StandardOpenOption.WRITE);
            do {
                try {
                    overlaps = false;
                    locked = channel.tryLock() != null;
                } catch (OverlappingFileLockException _) { // by a link, or another class loader
                    overlaps = true;
                }
            } while (!locked && wait.again());
            return locked ? Optional.of(new StateLock(held, channel)) : Optional.empty();
        } finally {
            if (!locked) {
                if (channel != null && !overlaps) { // else its end would release the other lock
                    channel.close();
                }
                HELD.remove(held);
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
