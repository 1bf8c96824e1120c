package lunar.fs;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.SeekableByteChannel;

/** Read-only channel over the content of a file. Not thread-safe; closing it releases nothing. */
final class ContentChannel implements SeekableByteChannel {
    private static final int COPY_BYTES = 64 << 10;

    private final Content content;
    private long position;
    private volatile boolean open = true;

    ContentChannel(Content content) { this.content = content; }

    /** Fills the buffer, unless the content ends before. */
    @Override
    public int read(ByteBuffer into) throws IOException {
        requireOpen();
        if (position >= content.sizeBytes()) {
            return -1;
        }
        int before = into.remaining();
        byte[] bytes = into.hasArray()
                ? into.array()
                : new byte[Math.min(COPY_BYTES, before)];
        while (into.hasRemaining()) {
            int at = into.hasArray() ? into.arrayOffset() + into.position() : 0;
            int room = into.hasArray()
                    ? into.remaining()
                    : Math.min(into.remaining(), bytes.length);
            int read = content.read(position, bytes, at, room);
            if (read < 0) {
                break;
            }
            if (into.hasArray()) {
                into.position(into.position() + read);
            } else {
                into.put(bytes, 0, read);
            }
            position += read;
        }
        return before - into.remaining();
    }

    @Override
    public long position() throws IOException {
        requireOpen();
        return position;
    }

    @Override
    public SeekableByteChannel position(long newPosition) throws IOException {
        requireOpen();
        if (newPosition < 0) {
            throw new IllegalArgumentException("negative position: " + newPosition);
        }
        position = newPosition;
        return this;
    }

    @Override
    public long size() throws IOException {
        requireOpen();
        return content.sizeBytes();
    }

    @Override
    public int write(ByteBuffer from) { throw new NonWritableChannelException(); }

    @Override
    public SeekableByteChannel truncate(long size) { throw new NonWritableChannelException(); }

    @Override
    public boolean isOpen() { return open; }

    @Override
    public void close() { open = false; }

    private void requireOpen() throws ClosedChannelException {
        if (!open) {
            throw new ClosedChannelException();
        }
    }
}
