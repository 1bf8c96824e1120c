package lunar.store;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import lunar.block.BusyException;
import lunar.block.DeviceGoneException;
import org.jspecify.annotations.Nullable;

/**
 * An open, locked file that survives interrupts. A thread that is interrupted in a FileChannel, or enters one with its
 * flag set, closes the channel for everybody. Here such a channel is replaced: the interrupted thread and its
 * victims open the same file again, take the lock again and repeat what they did, which is harmless since every
 * transfer has its place. The thread keeps its interrupt flag. The alternative, to hand each request to a thread of our
 * own, would cost two switches per request for a case that hardly happens.
 *
 * <p>POSIX gives up all of a process's locks on a file when it closes any descriptor of it, so between close and
 * reopening another process could take it; then this handle is gone, and says so.
 */
final class FileHandle implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(FileHandle.class.getName());
    /** Java copies heap buffers to native ones of the same size and keeps these; larger pieces only cost memory. */
    private static final int MAX_HEAP_PIECE_BYTES = 1 << 20;

    /**
     * Files that this process holds. To open one again only to find it locked would be fatal: closing that second
     * descriptor gives up the lock of the first. A lock is the process's, and so is this set.
     */
    private static final Set<Object> HELD = ConcurrentHashMap.newKeySet();

    private final Path path;
    private final boolean writable;
    private final Set<OpenOption> openOptions = new HashSet<>();
    private final @Nullable Object fileKey;
    /** Replaced under this handle's monitor. */
    private volatile FileChannel channel;
    private boolean closed;

    private FileHandle(Path path, boolean writable, boolean direct) throws IOException {
        this.path = path;
        this.writable = writable;
        openOptions.add(StandardOpenOption.READ);
        if (writable) {
            openOptions.add(StandardOpenOption.WRITE);
        }
        if (direct) {
            openOptions.add(directOption());
        }
        this.fileKey = fileKey();
        if (!HELD.add(claim())) {
            throw new BusyException(path + " is in use by this process already");
        }
        boolean opened = false;
        try {
            this.channel = openLocked();
            opened = true;
        } finally {
            if (!opened) {
                HELD.remove(claim());
            }
        }
    }

    /**
     * Opens and locks a file: exclusively to write it, shared to read it.
     *
     * @throws BusyException when it is locked
     */
    static FileHandle open(Path path, boolean writable, boolean direct) throws IOException {
        return new FileHandle(path, writable, direct);
    }

    /**
     * {@code com.sun.nio.file.ExtendedOpenOption.DIRECT}, found by name: the compiler's warning about its package
     * cannot be suppressed.
     */
    private static OpenOption directOption() {
        try {
            for (Object option : Class.forName("com.sun.nio.file.ExtendedOpenOption")
                    .getEnumConstants()) {
                if (option instanceof OpenOption direct && option.toString().equals("DIRECT")) {
                    return direct;
                }
            }
        } catch (ClassNotFoundException e) {
            throw new UnsupportedOperationException("no direct I/O in this Java", e);
        }
        throw new UnsupportedOperationException("no direct I/O in this Java");
    }

    /** What is asked of the file as a whole. */
    @FunctionalInterface
    private interface Call<T> {
        T on(FileChannel channel) throws IOException;
    }

    /** Asks until the answer is the file's and not that somebody was interrupted. */
    private <T> T ask(Call<T> call) throws IOException {
        boolean interrupted = false;
        try {
            for (;;) {
                try {
                    return call.on(channel);
                } catch (ClosedChannelException e) {
                    interrupted |= Thread.interrupted();
                    replace();
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    long sizeBytes() throws IOException { return ask(FileChannel::size); }

    /** Fills the buffer from this place. */
    void read(ByteBuffer into, long offsetBytes) throws IOException {
        transfer(into, offsetBytes, false);
    }

    /** Writes the whole buffer at this place. */
    void write(ByteBuffer from, long offsetBytes) throws IOException {
        transfer(from, offsetBytes, true);
    }

    private void transfer(ByteBuffer buffer, long offsetBytes, boolean write) throws IOException {
        boolean interrupted = false;
        int limit = buffer.limit();
        long origin = offsetBytes - buffer.position();
        try {
            while (buffer.position() < limit) {
                if (!buffer.isDirect()) {
                    buffer.limit(Math.min(limit, buffer.position() + MAX_HEAP_PIECE_BYTES));
                }
                FileChannel now = channel;
                try {
                    int count = write
                            ? now.write(buffer, origin + buffer.position())
                            : now.read(buffer, origin + buffer.position());
                    if (count < 0) {
                        throw new EOFException("the file has become shorter");
                    }
                } catch (ClosedChannelException e) {
                    interrupted |= Thread.interrupted();
                    replace();
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** The first bytes of the file as memory that cannot be written, as long as anybody refers to it. */
    MemorySegment map(long sizeBytes) throws IOException {
        return ask(now -> now.map(FileChannel.MapMode.READ_ONLY, 0, sizeBytes, Arena.ofAuto()));
    }

    /**
     * Sends bytes to a channel. An interrupt ends this transfer, because nobody knows how much was sent, but no other
     * thread's: the exception that Java throws to those says that nothing was.
     */
    long transferTo(long offsetBytes, long countBytes, WritableByteChannel target)
            throws IOException {
        long done = 0;
        while (done < countBytes) {
            FileChannel now = channel;
            try {
                long count = now.transferTo(offsetBytes + done, countBytes - done, target);
                if (count == 0) {
                    if (offsetBytes + done >= now.size()) {
                        throw new EOFException("the file has become shorter");
                    }
                    break;
                }
                done += count;
            } catch (ClosedChannelException e) {
                boolean mine = Thread.interrupted();
                boolean ours = !now.isOpen();
                if (ours) {
                    replace();
                }
                if (mine) {
                    Thread.currentThread().interrupt();
                }
                if (mine || !ours || !target.isOpen()) {
                    throw e;
                }
            }
        }
        return done;
    }

    private synchronized void replace() throws IOException {
        if (closed) {
            throw new ClosedChannelException();
        }
        if (channel.isOpen()) {
            return; // somebody was here before
        }
        if (!Objects.equals(fileKey, fileKey())) {
            throw new DeviceGoneException(path + " is another file than before");
        }
        channel.close(); // waits for whoever is closing it, whose lock would be in the way of the new one
        channel = openLocked();
        LOG.log(System.Logger.Level.DEBUG, "opened {0} again after an interrupt", path);
    }

    private Object claim() { return fileKey == null ? path : fileKey; }

    private @Nullable Object fileKey() throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class, new LinkOption[0]).fileKey();
    }

    private FileChannel openLocked() throws IOException {
        FileChannel fresh = FileChannel.open(path, openOptions);
        boolean locked = false;
        try {
            lock(fresh);
            locked = true;
            return fresh;
        } finally {
            if (!locked) {
                fresh.close();
            }
        }
    }

    private void lock(FileChannel fresh) throws IOException {
        FileLock lock;
        try {
            lock = fresh.tryLock(0, Long.MAX_VALUE, !writable);
        } catch (OverlappingFileLockException e) {
            throw new BusyException(path + " is in use by this process already", e);
        } catch (IOException e) {
            LOG.log(System.Logger.Level.WARNING,
                    path + " cannot be locked (" + e.getMessage()
                            + "): take care that nobody else writes it");
            return;
        }
        if (lock == null) {
            throw new BusyException(path + " is in use by another process");
        }
    }

    @Override
    public synchronized void close() throws IOException {
        if (!closed) {
            closed = true;
            channel.close();
            HELD.remove(claim());
        }
    }
}
