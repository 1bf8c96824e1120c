package lunar.osd.client;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import lunar.osd.wire.ObjectId;
import org.jspecify.annotations.Nullable;

/** Writes a user object from front to back, with several commands in flight. For one thread at a time. */
final class ObjectOutput extends OutputStream {
    private final OsdCalls calls;
    private final ObjectId object;
    private final Pipeline pipeline;
    /** Buffers of the commands in flight, in their order. */
    private final Deque<byte[]> sending = new ArrayDeque<>();
    private final Deque<byte[]> idle = new ArrayDeque<>();
    private byte[] chunk = new byte[0];
    private int chunkBytes;
    /** Where the chunk is written. */
    private long chunkAt;
    private @Nullable IOException failure;
    private boolean closed;

    ObjectOutput(OsdCalls calls, ObjectId object, long offset) {
        this.calls = calls;
        this.object = object;
        chunkAt = offset;
        pipeline = new Pipeline(calls);
    }

    @Override
    public void write(int value) throws IOException { write(new byte[]{(byte) value}, 0, 1); }

    @Override
    public void write(byte[] from, int at, int length) throws IOException {
        Objects.checkFromIndexSize(at, length, from.length);
        requireUsable();
        int done = 0;
        while (done < length) {
            if (chunk.length == 0) {
                chunk = buffer();
            }
            int count = Math.min(length - done, chunk.length - chunkBytes);
            System.arraycopy(from, at + done, chunk, chunkBytes, count);
            chunkBytes += count;
            done += count;
            if (chunkBytes == chunk.length) {
                send();
            }
        }
    }

    private byte[] buffer() {
        return idle.isEmpty() ? new byte[calls.options().transferBytes()] : idle.remove();
    }

    private void send() throws IOException {
        while (pipeline.isFull()) {
            await();
        }
        MemorySegment data = MemorySegment.ofArray(chunk).asSlice(0, chunkBytes);
        sending.add(chunk);
        pipeline.start(Transfers.writeCommand(object, chunkAt, data, RequestOptions.NONE));
        chunkAt += chunkBytes;
        chunk = new byte[0];
        chunkBytes = 0;
    }

    private void await() throws IOException {
        try {
            var _ = pipeline.await();
            idle.add(sending.remove());
        } catch (IOException e) {
            failure = e;
            pipeline.drain();
            throw e;
        }
    }

    private void requireUsable() throws IOException {
        if (closed) {
            throw new IOException("the stream of " + object + " is closed");
        }
        if (failure != null) {
            throw new IOException("an earlier write of " + object + " failed: "
                    + failure.getMessage(), failure);
        }
    }

    /** Waits until all that was written is at the device. */
    @Override
    public void flush() throws IOException {
        requireUsable();
        if (chunkBytes > 0) {
            send();
        }
        while (!pipeline.isEmpty()) {
            await();
        }
    }

    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        try {
            if (failure == null) {
                flush();
            }
        } finally {
            closed = true;
            pipeline.drain();
        }
    }
}
