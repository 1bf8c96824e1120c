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
 * A device as a channel of bytes, for code which expects a file: {@code Channels.newInputStream}, archive readers,
 * image and database libraries. Reads and writes of any length at any byte; parts of blocks are written by
 * read-modify-write.
 *
 * <p><b>Size.</b> That of the device, always: {@link #truncate} to less is refused. A write that goes over the end
 * writes what fits and says how much that was; one that begins at the end or after it fails with
 * {@link lunar.block.OutOfRangeException}. A read from there gives -1.
 *
 * <p><b>Threads.</b> As with {@link java.nio.channels.FileChannel}, any number of threads may use a channel; those
 * which use its position go one after the other, those which name a position at once. Writes through a channel and
 * its {@linkplain #asynchronous() asynchronous view} do not spoil each other, even in the same block; overlapping
 * ones happen one after the other, in any order. <b>Other channels over the same device, in this process or
 * elsewhere, do not know of them</b>: between those only writes of whole blocks are safe.
 *
 * <p><b>Durability.</b> As on the device: {@link #force}, or {@code DSYNC} on opening.
 *
 * <p><b>Interruption and close.</b> An interrupt does not close the channel (it is no {@code InterruptibleChannel}) and
 * ends an operation only where the device itself gives up, with {@link lunar.block.AbortedException}; the device's
 * deadlines
 * bound each wait. Close does not close the device, which is
 * the caller's. An operation that another thread has under way when the channel is closed ends when the device has let
 * go of the buffer, with {@link java.nio.channels.AsynchronousCloseException}.
 *
 * <p>Buffers may be direct or heap buffers; whole blocks go without a copy. A failed operation leaves the buffer's
 * position and the channel's where they were.
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
    /** Held while the position is in use. */
    private final ReentrantLock positionLock = new ReentrantLock();
    private long position;

    private BlockChannel(OpenChannel channel) { this.channel = channel; }

    /**
     * Opens a channel over a device, which stays the caller's.
     *
     * @param options {@code READ}, {@code WRITE}, {@code DSYNC} or {@code SYNC} of
     *        {@link java.nio.file.StandardOpenOption}; none means to read, and to write where the device takes writes
     * @throws UnsupportedOperationException for any other option
     * @throws lunar.block.WriteProtectedException when the device is read-only and WRITE was asked for
     */
    public static BlockChannel open(BlockDevice device, OpenOption... options)
            throws StorageException {
        return new BlockChannel(OpenChannel.over(device, options));
    }

    /** The device under the channel. */
    public BlockDevice device() { return channel.device(); }

    /** An asynchronous view with the same options, opened and closed by itself. Handlers run on virtual threads. */
    public AsynchronousBlockChannel asynchronous() {
        return asynchronous(AsynchronousBlockChannel.VIRTUAL_THREADS);
    }

    /** An asynchronous view with the same options, opened and closed by itself. */
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
     * Reads at a position and leaves the channel's where it is.
     *
     * @param from byte of the device
     * @return bytes read: as many as the buffer takes, fewer only at the end of the device, where it is -1
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
     * Writes at a position and leaves the channel's where it is.
     *
     * @param to byte of the device
     * @return bytes written: all, or what fits on the device
     * @throws lunar.block.OutOfRangeException when nothing fits
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

    /** Makes every completed write stable: {@link BlockDevice#flush}. */
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

    /** Moves the position, also beyond the end of the device: reads give -1 there. */
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

    /** Bytes of the device, which may grow while the channel is open. */
    @Override
    public long size() throws IOException { return channel.size(); }

    /**
     * Does nothing for a size not below the device's but for moving a position beyond it there.
     *
     * @throws lunar.block.NotSupportedException for less: a device keeps its size
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

    /** Closes the channel, not the device. Idempotent; waits for nothing. */
    @Override
    public void close() { channel.close(); }

    @Override
    public String toString() { return channel.describe("channel"); }
}
