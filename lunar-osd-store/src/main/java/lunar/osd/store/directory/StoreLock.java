package lunar.osd.store.directory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import lunar.block.BusyException;
import org.jspecify.annotations.Nullable;

/**
 * The lock of a store's directory, which names the process that has it. It ends with the process.
 *
 * <p>Stores of this process are known: a POSIX lock is released when the process closes any descriptor of the file,
 * even one that could not get the lock.
 */
final class StoreLock implements AutoCloseable {
    private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

    private final Path held;
    private final FileChannel channel;

    private StoreLock(Path held, FileChannel channel) {
        this.held = held;
        this.channel = channel;
    }

    /** @throws BusyException if the store is open already */
    static StoreLock take(StoreDirectory directory) throws IOException {
        Path held = directory.path().toRealPath();
        if (!HELD.add(held)) {
            throw openHere(directory, null);
        }
        FileChannel channel = null;
        boolean locked = false;
        try {
            try {
                directory.createFile(directory.lock());
            } catch (FileAlreadyExistsException _) {
                assert Files.exists(directory.lock());
            }
            channel = FileChannel.open(directory.lock(), StandardOpenOption.READ,
                    StandardOpenOption.WRITE);
            lock(channel, directory);
            channel.truncate(0);
            channel.write(ByteBuffer.wrap(("process " + ProcessHandle.current().pid() + ", since "
                    + Instant.now().truncatedTo(ChronoUnit.SECONDS) + "\n")
                    .getBytes(StandardCharsets.UTF_8)), 0);
            locked = true;
            return new StoreLock(held, channel);
        } finally {
            if (!locked) {
                if (channel != null) {
                    channel.close();
                }
                HELD.remove(held);
            }
        }
    }

    /** A path with a link in it, or a relative one, may name a directory that is open under another path. */
    private static BusyException openHere(StoreDirectory directory, @Nullable Throwable cause) {
        return new BusyException("object store " + directory + " is already open in this process,"
                + " perhaps by another spelling of its path; write the path identically wherever"
                + " the store is used", cause);
    }

    private static void lock(FileChannel channel, StoreDirectory directory) throws IOException {
        FileLock lock;
        try {
            lock = channel.tryLock();
        } catch (OverlappingFileLockException e) {
            throw openHere(directory, e);
        }
        if (lock == null) {
            throw new BusyException("object store " + directory + " is in use by "
                    + Files.readString(directory.lock()).strip()
                    + "; a store can be open only once");
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
