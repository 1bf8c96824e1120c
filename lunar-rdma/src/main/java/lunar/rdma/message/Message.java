package lunar.rdma.message;

import java.lang.foreign.MemorySegment;
import lunar.rdma.MemorySlice;
import lunar.rdma.RdmaException;

/**
 * A message in the memory that the device wrote it to, of {@link Messenger#receiveMessage}. Belongs to the thread of
 * the messenger; its memory takes another message after {@link #close}.
 */
public final class Message implements AutoCloseable {
    private final Messenger messenger;
    private final MemorySlice slice;
    private final int bytes;
    private boolean isClosed;

    Message(Messenger messenger, MemorySlice slice, int bytes) {
        this.messenger = messenger;
        this.slice = slice;
        this.bytes = bytes;
    }

    /** Length of the message. */
    public int bytes() { return bytes; }

    /** The message; not to be used after {@link #close}. */
    public MemorySegment segment() {
        return slice.segment().asSlice(0, bytes);
    }

    /** Memory of the message as registered memory, for example to send it on. */
    public MemorySlice slice() {
        return slice;
    }

    /** Gives the memory back: it is posted for another message. Idempotent. */
    @Override
    public void close() throws RdmaException {
        if (!isClosed) {
            isClosed = true;
            messenger.postReceive(slice);
        }
    }
}
