package lunar.block.channel;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.OpenOption;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import lunar.block.BlockDevice;
import lunar.block.StorageException;

/**
 * A seekable byte channel over a device, for code that expects a file: {@code Channels.newInputStream}, archive
 * readers, image and database libraries. Reads and writes have any length and begin at any byte; parts of blocks are
 * written by read-modify-write.
 *
 * <p><b>Size.</b> The channel has the size of the device, and {@link #truncate} to less is refused. A write beyond the
 * end of the device writes the bytes that fit and returns their number; a write that begins at the end or after it
 * fails with {@link lunar.block.OutOfRangeException}, and a read there returns -1.
 *
 * <p><b>Threads.</b> As with {@link java.nio.channels.FileChannel}, any number of threads may use a channel. Operations
 * that use its position are performed one after the other, those with an explicit position concurrently. Writes through
 * a channel and its {@linkplain #asynchronous() asynchronous view} to parts of the same block do not overwrite each
 * other; overlapping writes are performed one after the other, in any order. <b>That does not hold between channels
 * that were opened separately</b>, in this process or elsewhere: between those only writes of whole blocks are safe.
 *
 * <p><b>Durability.</b> As on the device: by {@link #force}, or {@code DSYNC} when it is opened.
 *
 * <p><b>Interruption and close.</b> An interrupt does not close the channel (it is no {@code InterruptibleChannel}),
 * and fails an operation only if the device itself fails it, with {@link lunar.block.AbortedException}; the deadlines
 * of the device bound each wait. Close does not close the device. An operation of another thread that is in progress
 * fails with {@link java.nio.channels.AsynchronousCloseException} once the device no longer uses the buffer.
 *
 * <p>Buffers may be direct or heap buffers; whole blocks are transferred without a copy. A failed operation changes
 * neither the position of the buffer nor that of the channel.
 *
 * {@snippet :
 * try (BlockDevice lun = Devices.open("iscsi://array/iqn.2026-11.org.example:disk/0");
 *         var channel = BlockChannel.open(lun)) {
 *     channel.position(1_000_003);
 *     channel.write(ByteBuffer.wrap("any bytes".getBytes(UTF_8)));
 *     channel.force();
 * }
 * }
 */
public final class BlockChannel implements SeekableByteChannel {
    private final OpenChannel channel;
    /** Guards the position. */
    private final ReentrantLock positionLock = new ReentrantLock();
    private long position;

    private BlockChannel(OpenChannel channel) { this.channel = channel; }

    /**
     * Opens a channel over a device, which the caller closes after it.
     *
     * @param options {@code READ}, {@code WRITE}, {@code DSYNC} or {@code SYNC} of
     *        {@link java.nio.file.StandardOpenOption}; by default READ, and WRITE unless the device is read-only
     * @throws UnsupportedOperationException for any other option
     * @throws lunar.block.WriteProtectedException if WRITE is given and the device is read-only
     */
    public static BlockChannel open(BlockDevice device, OpenOption... options)
            throws StorageException {
        return new BlockChannel(OpenChannel.over(device, options));
    }

    /** Returns the device under the channel. */
    public BlockDevice device() {
        return channel.device();
    }

    /** Opens an asynchronous view with the same options, closed on its own. Handlers run on virtual threads. */
    public AsynchronousBlockChannel asynchronous() {
        return asynchronous(AsynchronousBlockChannel.VIRTUAL_THREADS);
    }

    /** Opens an asynchronous view with the same options, closed on its own, with an executor for the handlers. */
    public AsynchronousBlockChannel asynchronous(Executor handlers) {
        return new AsynchronousBlockChannel(channel.another(), handlers);
    }

    @Override
    public int read(ByteBuffer dst) throws IOException {
        positionLock.lock();
        try {
            int count = read(dst, position);
            position += Math.max(0, count);
            return count;
        } finally {
            positionLock.unlock();
        }
    }

    /**
     * Reads at a position; the position of the channel does not change.
     *
     * @param from offset on the device in bytes
     * @return the number of bytes read: fewer than the buffer has room for only at the end of the device; -1 if there
     *         are none, as {@link java.nio.channels.SeekableByteChannel} has it
     */
    public int read(ByteBuffer dst, long from) throws IOException {
        ChannelModes.requirePosition(from);
        channel.requireOpen();
        channel.modes().requireRead();
        if (dst.isReadOnly()) {
            throw new IllegalArgumentException("the buffer is read-only");
        }
        int wanted = dst.remaining();
        int count = channel.access().within(from, wanted);
        if (count == 0) {
            return wanted == 0 ? 0 : -1;
        }
        channel.access().read(from, MemorySegment.ofBuffer(dst).asSlice(0, count), channel::isOpen);
        dst.position(dst.position() + count);
        return count;
    }

    @Override
    public int write(ByteBuffer src) throws IOException {
        positionLock.lock();
        try {
            int count = write(src, position);
            position += count;
            return count;
        } finally {
            positionLock.unlock();
        }
    }

    /**
     * Writes at a position; the position of the channel does not change.
     *
     * @param to offset on the device in bytes
     * @return the number of bytes written: all, or those that fit on the device
     * @throws lunar.block.OutOfRangeException if none fits
     */
    public int write(ByteBuffer src, long to) throws IOException {
        ChannelModes.requirePosition(to);
        channel.requireOpen();
        channel.modes().requireWrite();
        int count = channel.access().room(to, src.remaining());
        if (count > 0) {
            channel.access().write(to, MemorySegment.ofBuffer(src).asSlice(0, count),
                    channel.modes().fua(),
                    channel::isOpen);
            src.position(src.position() + count);
        }
        return count;
    }

    /** Brings every completed write to stable storage by {@link BlockDevice#flush}. */
    public void force() throws IOException {
        channel.force();
    }

    @Override
    public long position() throws IOException {
        positionLock.lock();
        try {
            channel.requireOpen();
            return position;
        } finally {
            positionLock.unlock();
        }
    }

    /** Sets the position, which may be beyond the end of the device: reads return -1 there. */
    @Override
    public BlockChannel position(long newPosition) throws IOException {
        ChannelModes.requirePosition(newPosition);
        positionLock.lock();
        try {
            channel.requireOpen();
            position = newPosition;
            return this;
        } finally {
            positionLock.unlock();
        }
    }

    /** Returns the size of the device in bytes; it may grow while the channel is open. */
    @Override
    public long size() throws IOException { return channel.size(); }

    /**
     * Sets the position to a size that is less than it; otherwise does nothing.
     *
     * @throws lunar.block.NotSupportedException if the size is less than that of the device, which cannot be truncated
     */
    @Override
    public BlockChannel truncate(long size) throws IOException {
        positionLock.lock();
        try {
            channel.requireNotSmaller(size);
            position = Math.min(position, size);
            return this;
        } finally {
            positionLock.unlock();
        }
    }

    @Override
    public boolean isOpen() { return channel.isOpen(); }

    /** Closes the channel, not the device. Idempotent; does not wait. */
    @Override
    public void close() { channel.close(); }

    @Override
    public String toString() { return channel.describe("channel"); }
}
