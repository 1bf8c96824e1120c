package lunar.rdma.libfabric;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * A message of shm's connection set-up over TCP: length of the rest (2 bytes), magic, kind, then the names and numbers
 * by which the peer finds the sender, each text after its length, and private data. Integers are big-endian.
 *
 * <p>The active side sends REQUEST; the passive side answers ACCEPT or REJECT. After an ACCEPT each side, first the
 * active one, checks that it can send to the other, and then sends READY. From then on each byte is a ring, which wakes
 * up the peer's thread. The end of the stream is the end of the connection.
 */
final class ShmMessage {
    enum Kind {
        REQUEST(1), ACCEPT(2), REJECT(3), READY(4);

        private final int code;

        Kind(int code) { this.code = code; }

        static Kind of(int code) throws IOException {
            for (Kind kind : values()) {
                if (kind.code == code) {
                    return kind;
                }
            }
            throw new IOException("message of kind " + code);
        }
    }

    static final int MAX_DATA_BYTES = 256;
    /** Longest message, its length included. */
    static final int MAX_BYTES = 1024;

    private static final int MAGIC = 0x4c524d33; // LRM3
    private static final int MAX_TEXT_BYTES = 255;
    private static final ShmBoard.Connection NO_CONNECTION = new ShmBoard.Connection(0, 0);

    private final Kind kind;
    private final String endpoint;
    private final String board;
    private final int channel;
    private final ShmBoard.Connection connection;
    private final byte[] data;

    /**
     * @param endpoint address of the sender's endpoint, as libfabric gives it
     * @param board name of the sender's {@link ShmBoard}
     * @param channel slot of the sender's channel there
     * @param connection place of this connection there
     */
    ShmMessage(Kind kind, String endpoint, String board, int channel,
            ShmBoard.Connection connection, byte[] data) {
        this.kind = kind;
        this.endpoint = endpoint;
        this.board = board;
        this.channel = channel;
        this.connection = connection;
        this.data = data;
    }

    Kind kind() { return kind; }

    String endpoint() { return endpoint; }

    String board() { return board; }

    int channel() { return channel; }

    ShmBoard.Connection connection() { return connection; }

    /** Private data, not copied. */
    byte[] data() { return data; }

    /** A message that needs no names. */
    static ShmMessage of(Kind kind, byte[] data) {
        return new ShmMessage(kind, "", "", 0, NO_CONNECTION, data);
    }

    ByteBuffer encode() {
        ByteBuffer buffer = ByteBuffer.allocate(MAX_BYTES);
        buffer.putShort((short) 0).putInt(MAGIC).put((byte) kind.code);
        put(buffer, endpoint);
        put(buffer, board);
        buffer.putInt(channel).putInt(connection.slot()).putInt(connection.number());
        buffer.putShort((short) data.length).put(data);
        return buffer.putShort(0, (short) (buffer.position() - Short.BYTES)).flip();
    }

    private static void put(ByteBuffer buffer, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        if (bytes.length > MAX_TEXT_BYTES) {
            throw new IllegalArgumentException(text);
        }
        buffer.put((byte) bytes.length).put(bytes);
    }

    /**
     * Whether a whole message has been received.
     *
     * @param received from its start to the buffer's position
     * @throws IOException if it exceeds the longest message
     */
    static boolean isComplete(ByteBuffer received) throws IOException {
        if (received.position() < Short.BYTES) {
            return false;
        }
        int length = received.getShort(0) & 0xFFFF;
        if (length > MAX_BYTES - Short.BYTES) {
            throw new IOException("message of " + length + " bytes");
        }
        return received.position() >= Short.BYTES + length;
    }

    /**
     * Decodes a complete message.
     *
     * @throws IOException if the format is invalid
     */
    static ShmMessage decode(ByteBuffer received) throws IOException {
        int length = received.getShort(0) & 0xFFFF;
        ByteBuffer body = received.slice(Short.BYTES, length);
        try {
            if (body.getInt() != MAGIC) {
                throw new IOException("not a set-up message of Lunar's shm");
            }
            Kind kind = Kind.of(body.get());
            String endpoint = text(body);
            String board = text(body);
            int channel = slot(body, ShmBoard.CHANNELS);
            var connection = new ShmBoard.Connection(slot(body, ShmBoard.CONNECTIONS),
                    body.getInt());
            byte[] data = new byte[body.getShort() & 0xFFFF];
            if (data.length > MAX_DATA_BYTES) {
                throw new IOException("private data of " + data.length + " bytes");
            }
            body.get(data);
            return new ShmMessage(kind, endpoint, board, channel, connection, data);
        } catch (BufferUnderflowException e) {
            throw new IOException("truncated message", e);
        }
    }

    private static String text(ByteBuffer body) {
        byte[] bytes = new byte[body.get() & 0xFF];
        body.get(bytes);
        return new String(bytes, StandardCharsets.US_ASCII);
    }

    private static int slot(ByteBuffer body, int limit) throws IOException {
        int slot = body.getInt();
        if (slot < 0 || slot >= limit) {
            throw new IOException("slot " + slot);
        }
        return slot;
    }
}
