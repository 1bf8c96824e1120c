package lunar.isns;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Assembles messages from PDUs (RFC 4171 section 5.2), which are contiguous and in order on a TCP connection. Not
 * thread-safe.
 */
final class MessageAssembler {
    /** The longest message that we take: some thousands of targets. */
    static final int MAX_MESSAGE_BYTES = 1 << 20;

    private final ByteArrayOutputStream payload = new ByteArrayOutputStream();
    private @Nullable PduHeader first;
    private int count;

    /**
     * Takes the next PDU.
     *
     * @return the message that it completes
     */
    Optional<Message> add(PduHeader header, byte[] bytes) throws IsnsException {
        PduHeader begun = first;
        if (header.has(PduHeader.FIRST) != (begun == null)) {
            throw broken(header, begun == null ? "does not begin a message" : "begins another");
        }
        if (begun == null) {
            begun = header;
            first = header;
        } else if (header.function() != begun.function()
                || header.transaction() != begun.transaction()) {
            throw broken(header, "belongs to another message");
        }
        if (header.sequence() != count) {
            throw broken(header, "has sequence " + header.sequence() + ", not " + count);
        }
        if (payload.size() + bytes.length > MAX_MESSAGE_BYTES) {
            throw broken(header, "makes the message longer than " + MAX_MESSAGE_BYTES + " bytes");
        }
        count++;
        payload.writeBytes(bytes);
        if (!header.has(PduHeader.LAST)) {
            return Optional.empty();
        }
        byte[] all = payload.toByteArray();
        payload.reset();
        first = null;
        count = 0;
        return Optional.of(MessageCodec.decode(begun, ByteBuffer.wrap(all)));
    }

    private static IsnsException broken(PduHeader header, String what) {
        return new IsnsException("a PDU of " + Functions.name(header.function()) + " " + what
                + " (section 5.2)");
    }
}
