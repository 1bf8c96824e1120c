package lunar.rdma.probe;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Purpose of a connection: the private data of its request, big-endian.
 *
 * <pre>
 *  0  magic, 4 bytes
 *  4  1 for an echo, 2 for a sink
 *  5  number of the variant
 *  6  length of a message, 4 bytes
 * </pre>
 *
 * @param isEcho whether each message is sent back; otherwise a message of one byte follows each
 *        {@link ProbeEnd#BATCH} messages
 * @param messageBytes length of each message
 */
record ProbeTask(boolean isEcho, Variant variant, int messageBytes) {
    private static final int MAGIC = 0x4c525031; // LRP1
    private static final int BYTES = 10;

    byte[] encode() {
        return ByteBuffer.allocate(BYTES).putInt(MAGIC).put((byte) (isEcho ? 1 : 2))
                .put((byte) variant.code()).putInt(messageBytes).array();
    }

    /** Decodes private data; returns null if they are not a task. Devices may pad them with zeros. */
    static @Nullable ProbeTask decode(byte[] data) {
        ByteBuffer buffer = ByteBuffer.wrap(data);
        try {
            if (buffer.getInt() != MAGIC) {
                return null;
            }
            int kind = buffer.get();
            Variant variant = Variant.of(buffer.get());
            int bytes = buffer.getInt();
            if (kind < 1 || kind > 2 || variant == null || bytes < 1
                    || bytes > Probe.MAX_MESSAGE_BYTES) {
                return null;
            }
            return new ProbeTask(kind == 1, variant, bytes);
        } catch (BufferUnderflowException e) {
            return null;
        }
    }
}
