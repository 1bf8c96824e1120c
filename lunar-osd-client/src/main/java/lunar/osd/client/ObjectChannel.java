package lunar.osd.client;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SeekableByteChannel;

/** A user object as a channel. For one thread at a time. */
final class ObjectChannel implements SeekableByteChannel {
    private final UserObject object;
    private long position;
    private boolean closed;

    ObjectChannel(UserObject object) { this.object = object; }

    private void requireOpen() throws ClosedChannelException {
        if (closed) {
            throw new ClosedChannelException();
        }
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
        requireOpen();
        if (!into.hasRemaining()) {
            return 0;
        }
        int count = (int) object.read(position, MemorySegment.ofBuffer(into));
        into.position(into.position() + count);
        position += count;
        return count == 0 ? -1 : count;
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
        requireOpen();
        int count = from.remaining();
        if (count > 0) {
            object.write(position, MemorySegment.ofBuffer(from));
            from.position(from.limit());
            position += count;
        }
        return count;
    }

    @Override
    public long position() throws ClosedChannelException {
        requireOpen();
        return position;
    }

    @Override
    public SeekableByteChannel position(long value) throws ClosedChannelException {
        requireOpen();
        if (value < 0) {
            throw new IllegalArgumentException("negative position: " + value);
        }
        position = value;
        return this;
    }

    @Override
    public long size() throws IOException {
        requireOpen();
        return object.length();
    }

    @Override
    public SeekableByteChannel truncate(long size) throws IOException {
        requireOpen();
        if (size < object.length()) {
            object.truncate(size);
        }
        position = Math.min(position, size);
        return this;
    }

    @Override
    public boolean isOpen() { return !closed; }

    @Override
    public void close() { closed = true; }
}
