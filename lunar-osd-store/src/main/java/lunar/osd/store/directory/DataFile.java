package lunar.osd.store.directory;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.Channel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.osd.wire.ObjectId;
import org.jspecify.annotations.Nullable;

/**
 * An open file with the data of an object. An interrupt that closes the channel does no harm: it is opened again, and
 * the transfer is repeated, which is positional; the thread keeps its interrupt flag.
 *
 * <p>Users hold the file shared while they transfer ({@link #hold}); it is closed, or taken from its object, only while
 * no thread holds it. Thread-safe.
 */
final class DataFile {
    /** Open or closed, for good. */
    private enum State {
        OPEN, CLOSED
    }

    /** Java copies heap memory to native memory of the same size and keeps that. */
    private static final int MAX_HEAP_PIECE = 1 << 20;
    private static final int MAX_PIECE = 1 << 30;

    private final ObjectId object;
    private final long data;
    private final StoreDirectory directory;
    private final Path path;
    private final ReentrantReadWriteLock holders = new ReentrantReadWriteLock();
    /** Of the object; the file may be longer where a write has failed. */
    private volatile long length;
    /** Length that the database has; negative if that is not known. */
    private volatile long savedLength = -1;
    private volatile long usedAt;
    private volatile State state = State.OPEN;
    /** Replaced under this object's monitor. */
    private volatile FileChannel channel;
    /** Opened before the first write, so that it gets a failure of writeback; no interrupt closes it. */
    private @Nullable AsynchronousFileChannel syncing;

    private DataFile(ObjectId object, long data, StoreDirectory directory, FileChannel channel,
            long length) {
        this.object = object;
        this.data = data;
        this.directory = directory;
        this.path = directory.file(data);
        this.channel = channel;
        this.length = length;
    }

    /** Opens a file whose length is the object's, also for an interrupted thread, which would close the channel. */
    static DataFile open(ObjectId object, long data, StoreDirectory directory)
            throws IOException {
        Path path = directory.file(data);
        directory.steps().file("open", path);
        FileChannel channel = openChannel(path);
        boolean opened = false;
        try {
            long size = Files.size(path); // unlike the channel, no interrupt ends it
            DataFile file = new DataFile(object, data, directory, channel, size);
            opened = true;
            return file;
        } finally {
            if (!opened) {
                channel.close();
            }
        }
    }

    private static FileChannel openChannel(Path path) throws IOException {
        return FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    ObjectId object() { return object; }

    long data() { return data; }

    long length() { return length; }

    /** Sets the object's length, by the thread that alone may change it. */
    void length(long bytes) {
        length = bytes;
    }

    long savedLength() { return savedLength; }

    /** Records the length that the database has. */
    void savedLength(long bytes) {
        savedLength = bytes;
    }

    /** Holds the file for transfers; false if it is not open any longer. {@link #release} must follow. */
    boolean hold() {
        boolean held = false;
        holders.readLock().lock();
        try {
            held = state == State.OPEN;
            usedAt = System.nanoTime();
        } finally {
            if (!held) {
                holders.readLock().unlock();
            }
        }
        return held;
    }

    void release() { holders.readLock().unlock(); }

    /** Keeps others from using the file. */
    void freeze() { holders.writeLock().lock(); }

    boolean tryFreeze() { return holders.writeLock().tryLock(); }

    void unfreeze() { holders.writeLock().unlock(); }

    long usedAt() { return usedAt; }

    boolean isOpen() { return state == State.OPEN; }

    /** Reads bytes that are there. */
    void read(long offset, MemorySegment into) throws StorageException {
        transfer(offset, into, false);
    }

    void write(long offset, MemorySegment from) throws StorageException {
        transfer(offset, from, true);
    }

    private void transfer(long offset, MemorySegment memory, boolean write)
            throws StorageException {
        int most = memory.isNative() ? MAX_PIECE : MAX_HEAP_PIECE;
        boolean interrupted = false;
        try {
            directory.steps().file(write ? "write" : "read", path);
            for (long done = 0; done < memory.byteSize();) {
                ByteBuffer piece = memory
                        .asSlice(done, Math.min(most, memory.byteSize() - done)).asByteBuffer();
                try {
                    int count = write
                            ? channel.write(piece, offset + done)
                            : channel.read(piece, offset + done);
                    if (count < 0) {
                        throw damaged("is shorter than its object: ends before byte "
                                + (offset + done));
                    }
                    done += count;
                } catch (ClosedChannelException e) {
                    interrupted |= Thread.interrupted();
                    reopen(e);
                }
            }
        } catch (IOException e) {
            throw Failures.of(path + (write ? ": write" : ": read"), e);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    MediumException damaged(String what) {
        return new MediumException("object store: " + path + ", the data of object " + object
                + ", " + what);
    }

    private synchronized void reopen(IOException closed) throws IOException {
        if (state != State.OPEN) {
            throw closed;
        }
        if (!channel.isOpen()) {
            channel = openChannel(path);
        }
    }

    /** Makes the file longer by a hole, or shorter. The object's length is the caller's concern. */
    void resize(long bytes) throws StorageException {
        boolean interrupted = false;
        try {
            for (;;) {
                try {
                    directory.steps().file("resize", path);
                    long size = channel.size();
                    if (bytes < size) {
                        channel.truncate(bytes);
                    } else if (bytes > size) {
                        ByteBuffer last = ByteBuffer.allocate(1);
                        channel.write(last, bytes - 1);
                    }
                    return;
                } catch (ClosedChannelException e) {
                    interrupted |= Thread.interrupted();
                    reopen(e);
                }
            }
        } catch (IOException e) {
            throw Failures.of(path + ": change of length", e);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Prepares for writes that are to be made stable later. */
    void prepareSync() throws StorageException {
        try {
            openForSync();
        } catch (IOException e) {
            throw Failures.of(path + ": open", e);
        }
    }

    private synchronized void openForSync() throws IOException {
        if (syncing == null && state == State.OPEN) {
            syncing = AsynchronousFileChannel.open(path, StandardOpenOption.WRITE);
        }
    }

    /**
     * Makes what was written stable.
     *
     * @throws java.nio.file.NoSuchFileException if the file was deleted since it was opened
     */
    void sync() throws IOException {
        openForSync();
        AsynchronousFileChannel own;
        synchronized (this) {
            own = syncing;
        }
        if (own == null) {
            throw new ClosedChannelException();
        }
        directory.force(own, path, false);
    }

    /** Takes over what syncs a file of the data id that was closed for transfers. */
    synchronized void syncInsteadOf(DataFile closed) {
        AsynchronousFileChannel other;
        synchronized (closed) {
            other = closed.syncing;
            closed.syncing = null;
        }
        if (syncing == null) {
            syncing = other;
        } else {
            close(other);
        }
    }

    /** Closes the file, which no thread may be using, except for {@link #sync}. {@link #close} must follow. */
    synchronized void closeForTransfers() {
        if (state == State.OPEN) {
            try {
                openForSync();
            } catch (IOException e) { // then the kernel alone remembers a failure of writeback
                log(e);
            }
            state = State.CLOSED;
            close(channel);
        }
    }

    /** Closes the file, which no thread may be using. */
    synchronized void close() {
        state = State.CLOSED;
        close(channel);
        close(syncing);
        syncing = null;
    }

    private void close(@Nullable Channel any) {
        try {
            if (any != null) {
                any.close();
            }
        } catch (IOException e) { // nothing is lost: what matters was reported by fsync(2)
            log(e);
        }
    }

    private void log(IOException e) {
        System.getLogger(DataFile.class.getName()).log(System.Logger.Level.DEBUG,
                path.toString(), e);
    }
}
