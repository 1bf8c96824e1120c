package lunar.osd.client;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import lunar.osd.wire.ObjectId;

/** Reads a user object from front to back, ahead of its user. For one thread at a time. */
final class ObjectInput extends InputStream {
    private final OsdCalls calls;
    private final ObjectId object;
    private final long end;
    private final Pipeline pipeline;
    /** Buffers of the commands in flight, in their order. */
    private final Deque<byte[]> filling = new ArrayDeque<>();
    private final Deque<byte[]> idle = new ArrayDeque<>();
    /** Where the next command reads. */
    private long nextAt;
    private byte[] chunk = new byte[0];
    private int chunkAt;
    private int chunkBytes;
    private boolean ended;
    private boolean closed;

    /** @param end the end of the object when the stream was opened */
    ObjectInput(OsdCalls calls, ObjectId object, long offset, long end) {
        this.calls = calls;
        this.object = object;
        this.end = end;
        nextAt = offset;
        pipeline = new Pipeline(calls);
    }

    @Override
    public int read() throws IOException {
        var one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int at, int length) throws IOException {
        Objects.checkFromIndexSize(at, length, into.length);
        if (length == 0) {
            return 0;
        }
        if (chunkAt == chunkBytes && !nextChunk()) {
            return -1;
        }
        int count = Math.min(length, chunkBytes - chunkAt);
        System.arraycopy(chunk, chunkAt, into, at, count);
        chunkAt += count;
        return count;
    }

    @Override
    public int available() { return chunkBytes - chunkAt; }

    private boolean nextChunk() throws IOException {
        if (closed) {
            throw new EOFException("the stream of " + object + " is closed");
        }
        if (chunk.length > 0) {
            idle.add(chunk);
            chunk = new byte[0];
        }
        chunkAt = 0;
        chunkBytes = 0;
        while (!ended && nextAt < end && !pipeline.isFull()) {
            readAhead();
        }
        if (ended || pipeline.isEmpty()) {
            return false;
        }
        chunk = filling.remove();
        chunkBytes = (int) pipeline.await();
        // An object that has become shorter ends here.
        ended = chunkBytes < chunk.length && (nextAt < end || !pipeline.isEmpty());
        return chunkBytes > 0;
    }

    private void readAhead() throws IOException {
        int length = (int) Math.min(calls.options().transferBytes(), end - nextAt);
        byte[] buffer = idle.isEmpty() ? new byte[length] : idle.remove();
        if (buffer.length != length) {
            buffer = new byte[length];
        }
        pipeline.start(Transfers.readCommand(object, nextAt, MemorySegment.ofArray(buffer),
                RequestOptions.NONE));
        filling.add(buffer);
        nextAt += length;
    }

    @Override
    public void close() {
        closed = true;
        chunkAt = 0;
        chunkBytes = 0;
        pipeline.drain();
    }
}
