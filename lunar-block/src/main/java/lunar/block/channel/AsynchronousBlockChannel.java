package lunar.block.channel;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.CompletionHandler;
import java.nio.channels.FileLock;
import java.nio.file.OpenOption;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import lunar.block.BlockDevice;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/**
 * An asynchronous file channel over a device: reads and writes at any byte, thousands of them in flight, without a
 * thread for each. The device has up to 1024 requests at once; up to 65536 others are queued, beyond which an operation
 * fails with {@link lunar.block.BusyException}.
 *
 * <p>Size, durability and writes of parts of blocks are as in {@link BlockChannel}. Overlapping writes are performed
 * one after the other, in any order; a read that overlaps a write in progress may return some, all or none of it.
 *
 * <p><b>Handlers</b> run on the executor of the channel, by default each on its own virtual thread, so they may block;
 * with an executor that runs them on the calling thread they must not. <b>Buffers</b> belong to the operation until it
 * completes and must be usable by any thread (not of a confined arena). A <b>future</b> cannot be cancelled, because
 * the device may be filling the buffer: {@code cancel} returns false and changes nothing.
 *
 * <p><b>Close</b> does not wait, and does not close the device. Operations in progress fail with
 * {@link java.nio.channels.AsynchronousCloseException} once the device no longer uses their buffers; a write among them
 * may have been performed.
 *
 * <p><b>Locks</b> are refused with {@link UnsupportedOperationException}: a device cannot lock ranges of bytes, and a
 * lock inside this process would not exclude other hosts.
 *
 * {@snippet :
 * try (var channel = AsynchronousBlockChannel.open(lun)) {
 *     Future<Integer> first = channel.read(ByteBuffer.allocateDirect(4096), 0);
 *     Future<Integer> second = channel.read(ByteBuffer.allocateDirect(100), 77_777);
 *     first.get();
 *     second.get();
 * }
 * }
 */
public final class AsynchronousBlockChannel extends AsynchronousFileChannel {
    static final Executor VIRTUAL_THREADS = Thread::startVirtualThread;

    /** Receives the result of an operation: as of {@link AsynchronousFileChannel}, -1 at the end of the device. */
    private interface Result {
        void ended(int count, @Nullable IOException failure);
    }

    /** A future that cannot be cancelled, because the device may use the buffer until the operation completes. */
    private static final class Operation extends CompletableFuture<Integer> {
        @Override
        public boolean cancel(boolean mayInterruptIfRunning) { return false; }
    }

    private final OpenChannel channel;
    private final Executor handlers;

    AsynchronousBlockChannel(OpenChannel channel, Executor handlers) {
        this.channel = channel;
        this.handlers = handlers;
    }

    /**
     * Opens a channel over a device, which the caller closes after it. Handlers run on virtual threads.
     *
     * @param options {@code READ}, {@code WRITE}, {@code DSYNC} or {@code SYNC} of
     *        {@link java.nio.file.StandardOpenOption}; by default READ, and WRITE unless the device is read-only
     * @throws UnsupportedOperationException for any other option
     * @throws lunar.block.WriteProtectedException if WRITE is given and the device is read-only
     */
    public static AsynchronousBlockChannel open(BlockDevice device, OpenOption... options)
            throws StorageException {
        return open(device, VIRTUAL_THREADS, options);
    }

    /**
     * Like {@link #open(BlockDevice, OpenOption...)}, but with an executor for the handlers, which the caller shuts
     * down after the last operation has completed.
     */
    public static AsynchronousBlockChannel open(BlockDevice device, Executor handlers,
            OpenOption... options) throws StorageException {
        return new AsynchronousBlockChannel(OpenChannel.over(device, options), handlers);
    }

    /** Returns the device under the channel. */
    public BlockDevice device() {
        return channel.device();
    }

    @Override
    public <A extends @Nullable Object> void read(ByteBuffer dst, long position, A attachment,
            CompletionHandler<Integer, ? super A> handler) {
        start(false, dst, position, new Handling<>(attachment, handler));
    }

    @Override
    public Future<Integer> read(ByteBuffer dst, long position) {
        var operation = new Operation();
        start(false, dst, position, ending(operation));
        return operation;
    }

    @Override
    public <A extends @Nullable Object> void write(ByteBuffer src, long position, A attachment,
            CompletionHandler<Integer, ? super A> handler) {
        start(true, src, position, new Handling<>(attachment, handler));
    }

    @Override
    public Future<Integer> write(ByteBuffer src, long position) {
        var operation = new Operation();
        start(true, src, position, ending(operation));
        return operation;
    }

    private static Result ending(Operation operation) {
        return (count, failure) -> {
            if (failure == null) {
                operation.complete(count);
            } else {
                operation.completeExceptionally(failure);
            }
        };
    }

    /** Calls a handler by means of the executor. */
    private final class Handling<A extends @Nullable Object> implements Result {
        private final A attachment;
        private final CompletionHandler<Integer, ? super A> handler;

        Handling(A attachment, CompletionHandler<Integer, ? super A> handler) {
            this.attachment = attachment;
            this.handler = Objects.requireNonNull(handler, "no handler");
        }

        @Override
        public void ended(int count, @Nullable IOException failure) {
            Runnable call = failure == null
                    ? () -> handler.completed(count, attachment)
                    : () -> handler.failed(failure, attachment);
            try {
                handlers.execute(call);
            } catch (RejectedExecutionException _) {
                VIRTUAL_THREADS.execute(call); // an executor that was shut down must not make an end unheard
            }
        }
    }

    /** Starts an operation. Throws for errors of the caller; any other failure is the result of the operation. */
    private void start(boolean write, ByteBuffer buffer, long position, Result result) {
        ChannelModes.requirePosition(position);
        if (write) {
            channel.modes().requireWrite();
        } else {
            channel.modes().requireRead();
            if (buffer.isReadOnly()) {
                throw new IllegalArgumentException("the buffer is read-only");
            }
        }
        int count;
        try {
            channel.requireOpen();
            count = write
                    ? channel.access().room(position, buffer.remaining())
                    : channel.access().within(position, buffer.remaining());
        } catch (IOException e) {
            result.ended(0, e);
            return;
        }
        if (count == 0) {
            result.ended(buffer.hasRemaining() ? -1 : 0, null);
            return;
        }
        int end = buffer.position() + count;
        MemorySegment memory = MemorySegment.ofBuffer(buffer).asSlice(0, count);
        ByteAccess.Ending ending = failure -> {
            if (failure == null) {
                buffer.position(end);
            }
            result.ended(count, failure);
        };
        if (write) {
            channel.access().submitWrite(position, memory, channel.modes().fua(), channel::isOpen,
                    ending);
        } else {
            channel.access().submitRead(position, memory, channel::isOpen, ending);
        }
    }

    /** Returns the size of the device in bytes; it may grow while the channel is open. */
    @Override
    public long size() throws IOException { return channel.size(); }

    /**
     * Does nothing unless the size is less than that of the device.
     *
     * @throws lunar.block.NotSupportedException if it is less: a device cannot be truncated
     */
    @Override
    public AsynchronousFileChannel truncate(long size) throws IOException {
        channel.requireNotSmaller(size);
        return this;
    }

    /** Brings every completed write to stable storage by {@link BlockDevice#flush}. Blocks. There is no metadata. */
    @Override
    public void force(boolean metaData) throws IOException { channel.force(); }

    /** Not supported. */
    @Override
    public <A extends @Nullable Object> void lock(long position, long size, boolean shared,
            A attachment, CompletionHandler<FileLock, ? super A> handler) {
        throw noLocks();
    }

    /** Not supported. */
    @Override
    public Future<FileLock> lock(long position, long size, boolean shared) { throw noLocks(); }

    /** Not supported. */
    @Override
    public FileLock tryLock(long position, long size, boolean shared) { throw noLocks(); }

    private UnsupportedOperationException noLocks() {
        return new UnsupportedOperationException("a block device has no locks of byte ranges: "
                + "keep other hosts away from " + channel.device() + " by other means");
    }

    @Override
    public boolean isOpen() { return channel.isOpen(); }

    /** Closes the channel, not the device. Idempotent; does not wait. */
    @Override
    public void close() { channel.close(); }

    @Override
    public String toString() { return channel.describe("asynchronous channel"); }
}
