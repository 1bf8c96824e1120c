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
import java.util.concurrent.locks.LockSupport;
import lunar.block.BusyException;
import lunar.block.DeviceGoneException;
import org.jspecify.annotations.Nullable;

/**
 * An open, locked file that survives interrupts. A thread that is interrupted in a FileChannel, or enters one with its
 * flag set, closes the channel for all threads. This class replaces such a channel: the interrupted thread and all
 * others reopen the file and repeat their transfers, which is safe because every transfer is positional. The thread
 * keeps its interrupt flag. The alternative, running each request on a separate thread, would cost two context switches
 * per request for a rare case.
 *
 * <p>The lock belongs to a separate descriptor, which no interrupt closes ({@link DescriptionLock}). If such locks are
 * not available, a POSIX lock is used: the system releases all POSIX locks of a process on a file when the process
 * closes any descriptor of it, so the lock is acquired again with each new channel. If another process has it then, or
 * the path leads to another file, this handle is lost permanently: {@link #requireHeld}, which every access checks,
 * fails from then on.
 */
final class FileHandle implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(FileHandle.class.getName());
    /** Java copies heap buffers to native ones of the same size and keeps these; larger pieces only cost memory. */
    private static final int MAX_HEAP_PIECE_BYTES = 1 << 20;
    private static final int LOCK_TRIES = 50;
    private static final long LOCK_PAUSE_NANOS = 20_000_000;

    /**
     * Files that this process has locked. With POSIX locks, reopening one to find it locked would be fatal: closing the
     * second descriptor would release the lock of the first.
     */
    private static final Set<Object> HELD = ConcurrentHashMap.newKeySet();

    private final Path path;
    private final boolean writable;
    private final boolean locked;
    private final Set<OpenOption> openOptions = new HashSet<>();
    private final @Nullable Object fileKey;
    /** A descriptor that stays the same; null if the calls are not available. */
    private final @Nullable LinuxFile own;
    /** Whether it has the lock, and not the channel. */
    private final boolean ownHasLock;
    /** Why the file must not be used any longer. */
    private volatile @Nullable String lost;
    /** Replaced under this handle's monitor. */
    private volatile FileChannel channel;
    private boolean closed;

    private FileHandle(Path path, boolean writable, boolean locked, boolean direct,
            boolean portably) throws IOException {
        this.path = path;
        this.writable = writable;
        this.locked = locked;
        openOptions.add(StandardOpenOption.READ);
        if (writable) {
            openOptions.add(StandardOpenOption.WRITE);
        }
        if (direct) {
            openOptions.add(directOption());
        }
        this.fileKey = fileKey();
        // Even without a lock: closing a second descriptor would release a POSIX lock of the first.
        if (locked ? !HELD.add(claim()) : HELD.contains(claim())) {
            throw new BusyException(path + " is already in use by this process");
        }
        FileChannel opened = null;
        LinuxFile kept = null;
        boolean complete = false;
        try {
            opened = FileChannel.open(path, openOptions);
            kept = portably ? null : openOwn(direct);
            this.ownHasLock = locked && kept != null && lock(kept);
            if (locked && !ownHasLock) {
                lock(opened);
            }
            if (!Objects.equals(fileKey, fileKey())) { // the two may be of different files
                throw new BusyException(path + " was replaced while it was opened");
            }
            complete = true;
        } finally {
            if (!complete) {
                giveUp(kept, opened);
            }
        }
        this.channel = opened;
        this.own = kept;
    }

    /** Closes first: where locks are the process's, a close gives up also what another thread has locked meanwhile. */
    private void giveUp(@Nullable LinuxFile kept, @Nullable FileChannel opened) throws IOException {
        try {
            if (kept != null) {
                kept.close();
            }
            if (opened != null) {
                opened.close();
            }
        } finally {
            if (locked) {
                HELD.remove(claim());
            }
        }
    }

    /**
     * Opens and locks a file: exclusively to write it, shared to read it.
     *
     * @throws BusyException if it is locked
     */
    static FileHandle open(Path path, boolean writable, boolean direct) throws IOException {
        return new FileHandle(path, writable, true, direct, false);
    }

    /**
     * Opens a file to look at it although another process may have locked it.
     *
     * @throws BusyException if this process has locked it
     */
    static FileHandle openUnlocked(Path path, boolean direct) throws IOException {
        return new FileHandle(path, false, false, direct, false);
    }

    /** Like {@link #open}, but as on a system that is not known here. */
    static FileHandle openPortably(Path path, boolean writable) throws IOException {
        return new FileHandle(path, writable, true, false, true);
    }

    private @Nullable LinuxFile openOwn(boolean direct) throws IOException {
        return (direct
                ? LinuxFile.openDirect(path, writable)
                : LinuxFile.open(path, writable, false)).orElse(null);
    }

    /**
     * The descriptor that has the lock, opened like the file, for requests that the kernel executes by itself: it
     * keeps the file locked until they have ended. Closed with this. Null where the calls are not available.
     */
    @Nullable
    LinuxFile own() { return own; }

    /** @throws DeviceGoneException once the file was lost */
    void requireHeld() throws DeviceGoneException {
        String why = lost;
        if (why != null) {
            throw new DeviceGoneException(why);
        }
    }

    boolean isLost() { return lost != null; }

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

    /** A call that concerns the file as a whole. */
    @FunctionalInterface
    private interface Call<T> {
        T on(FileChannel channel) throws IOException;
    }

    /** Repeats a call until its outcome is the file's and not that of an interrupt. */
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
                        throw new EOFException("the file was truncated");
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

    /** Maps the first bytes of the file as read-only memory, for as long as it is reachable. */
    MemorySegment map(long sizeBytes) throws IOException {
        return ask(now -> now.map(FileChannel.MapMode.READ_ONLY, 0, sizeBytes, Arena.ofAuto()));
    }

    /**
     * Sends bytes to a channel. An interrupt ends this transfer, because the number of bytes sent is unknown, but not
     * those of other threads: the exception that Java throws to them means that nothing was sent.
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
                        throw new EOFException("the file was truncated");
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
        requireHeld();
        if (channel.isOpen()) {
            return; // another thread has replaced it already
        }
        channel.close(); // waits for the thread that is closing it: its lock would be in the way of the new one
        try {
            channel = openAgain();
        } catch (BusyException e) {
            throw lost(String.valueOf(e.getMessage()), e);
        } catch (IOException e) {
            // Without a separate lock another process may have the file; with it, the next attempt may succeed.
            throw ownHasLock || !locked
                    ? e
                    : lost(path + " cannot be opened again: " + e.getMessage(), e);
        }
        LOG.log(System.Logger.Level.DEBUG, "opened {0} again after an interrupt", path);
    }

    private DeviceGoneException lost(String why, @Nullable IOException cause) {
        lost = why;
        return new DeviceGoneException(why, cause);
    }

    private FileChannel openAgain() throws IOException {
        FileChannel fresh = FileChannel.open(path, openOptions);
        boolean same = false;
        try {
            if (!Objects.equals(fileKey, fileKey())) {
                throw lost(path + " is a different file now", null);
            }
            if (locked && !ownHasLock) {
                lock(fresh);
            }
            same = true;
            return fresh;
        } finally {
            if (!same) {
                fresh.close();
            }
        }
    }

    private Object claim() { return fileKey == null ? path : fileKey; }

    private @Nullable Object fileKey() throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class, new LinkOption[0]).fileKey();
    }

    /**
     * Locks by our own descriptor; false if that cannot be. Waits a moment for a process that was killed: the kernel
     * ends what its io_uring executes after the process itself.
     */
    private boolean lock(LinuxFile file) throws IOException {
        DescriptionLock.Answer answer = DescriptionLock.take(file, writable);
        for (int i = 0; i < LOCK_TRIES && answer == DescriptionLock.Answer.BUSY; i++) {
            LockSupport.parkNanos(LOCK_PAUSE_NANOS);
            answer = DescriptionLock.take(file, writable);
        }
        return switch (answer) {
            case LOCKED -> true;
            case BUSY -> throw new BusyException(path + " is in use by another process");
            case NOT_SUPPORTED -> false;
        };
    }

    private void lock(FileChannel fresh) throws IOException {
        FileLock lock;
        try {
            lock = fresh.tryLock(0, Long.MAX_VALUE, !writable);
        } catch (OverlappingFileLockException e) {
            throw new BusyException(path + " is already in use by this process", e);
        } catch (IOException e) {
            LOG.log(System.Logger.Level.WARNING,
                    path + " cannot be locked (" + e.getMessage()
                            + "): make sure that no other process writes it");
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
            LinuxFile file = own;
            try (file; var _ = channel) {
                if (file != null && ownHasLock) { // now, even if something else refers to the description
                    DescriptionLock.release(file);
                }
            } finally {
                if (locked) {
                    HELD.remove(claim());
                }
            }
        }
    }
}
