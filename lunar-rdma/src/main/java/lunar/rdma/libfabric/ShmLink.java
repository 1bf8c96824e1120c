package lunar.rdma.libfabric;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/** The TCP connection behind a connection of shm. Its user is notified by the thread of the channel. */
final class ShmLink {
    /** Handles the events of a link. */
    interface User {
        /** The link is connected. */
        void connected() throws IOException;

        void received(ShmMessage message) throws IOException;

        /**
         * The link has failed or ended, and is closed.
         *
         * @param cause reason, which may be the end of the stream
         */
        void ended(IOException cause);
    }

    private final SocketChannel socket;
    private final ByteBuffer bell = ByteBuffer.allocate(1);
    private final ByteBuffer received = ByteBuffer.allocate(ShmMessage.MAX_BYTES);
    private volatile User user;
    /** Whether the set-up messages have ended, so that each byte is a wake-up ("ring"). */
    private boolean isBell;

    ShmLink(SocketChannel socket, User user) {
        this.socket = socket;
        this.user = user;
    }

    /**
     * Changes the user. If another thread reads from then on, the key of the previous one is cancelled before: that
     * reader stops after the message that it handles.
     */
    void use(User other) { user = other; }

    SocketChannel socket() { return socket; }

    /** Treats bytes as rings from now on. */
    void startBell() { isBell = true; }

    /** Sends a message, which fits into the empty buffers of the socket. */
    void send(ShmMessage message) throws IOException {
        ByteBuffer bytes = message.encode();
        while (bytes.hasRemaining()) {
            if (socket.write(bytes) == 0) {
                throw new IOException("the peer does not read");
            }
        }
    }

    /** Wakes the peer's thread up. Any thread. */
    void ring() {
        try {
            synchronized (bell) {
                socket.write(bell.clear());
            }
        } catch (IOException e) {
            // The end of the link is reported to the thread of the channel.
        }
    }

    /** Handles a key that the selector has selected. */
    void ready(SelectionKey key) {
        User told = user;
        if (!key.isValid()) {
            return; // another thread reads for that user
        }
        try {
            if (key.isConnectable() && socket.finishConnect()) {
                key.interestOps(SelectionKey.OP_READ);
                told.connected();
            }
            if (key.isValid() && key.isReadable()) {
                read(told);
            }
        } catch (IOException e) {
            close();
            told.ended(e);
        }
    }

    @SuppressWarnings("ReferenceEquality") // users have no equals
    private void read(User told) throws IOException {
        while (true) {
            if (isBell) {
                received.clear();
            }
            int count = socket.read(received);
            if (count < 0) {
                throw new IOException("the peer has closed the connection");
            }
            if (count == 0 || (isBell && received.hasRemaining())) {
                return; // there is no more
            }
            while (!isBell && ShmMessage.isComplete(received)) {
                ShmMessage message = ShmMessage.decode(received);
                int length = Short.BYTES + (received.getShort(0) & 0xFFFF);
                received.flip().position(length);
                received.compact();
                told.received(message);
                if (!socket.isOpen() || user != told) {
                    return;
                }
            }
        }
    }

    void close() {
        try {
            socket.close();
        } catch (IOException e) {
            // the socket is closed regardless
        }
    }
}
