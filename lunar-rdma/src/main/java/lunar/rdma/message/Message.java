package lunar.rdma.message;

import java.lang.foreign.MemorySegment;
import lunar.rdma.MemorySlice;
import lunar.rdma.RdmaException;

/**
 * A received message in the registered memory that the device has written it to, from
 * {@link Messenger#receiveMessage}. For the thread of the messenger; {@link #close} makes the memory available for
 * another message.
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

    /** Length of the message in bytes. */
    public int bytes() { return bytes; }

    /** Returns the message; invalid after {@link #close}. */
    public MemorySegment segment() {
        return slice.segment().asSlice(0, bytes);
    }

    /** Returns the registered memory of the message, for example to forward it. */
    public MemorySlice slice() {
        return slice;
    }

    /** Gives the memory back, by posting it as a receive. Idempotent. */
    @Override
    public void close() throws RdmaException {
        if (!isClosed) {
            isClosed = true;
            messenger.postReceive(slice);
        }
    }
}
