package lunar.isns;

import java.nio.ByteBuffer;
import java.util.List;

/** Encodes and decodes messages (RFC 4171 sections 5.2 and 5.3). */
final class MessageCodec {
    private MessageCodec() {}

    /**
     * The PDUs of a message, one after the other.
     *
     * @param sender {@link PduHeader#FROM_CLIENT} or {@link PduHeader#FROM_SERVER}
     */
    static byte[] encode(Message message, int sender) {
        byte[] payload = payload(message);
        int pdus = Math.max(1, Math.ceilDiv(payload.length, PduHeader.MAX_PAYLOAD_BYTES));
        var bytes = ByteBuffer.allocate(pdus * PduHeader.BYTES + payload.length);
        for (int i = 0; i < pdus; i++) {
            int from = i * PduHeader.MAX_PAYLOAD_BYTES;
            int length = Math.min(PduHeader.MAX_PAYLOAD_BYTES, payload.length - from);
            int flags = sender | (i == 0 ? PduHeader.FIRST : 0)
                    | (i == pdus - 1 ? PduHeader.LAST : 0)
                    | (message instanceof Message.Request request && request.replace()
                            ? PduHeader.REPLACE
                            : 0);
            new PduHeader(message.function(), length, flags, message.transaction(), i)
                    .encode(bytes);
            bytes.put(payload, from, length);
        }
        return bytes.array();
    }

    private static byte[] payload(Message message) {
        int bytes = AttributeCodec.bytes(message.attributes());
        return switch (message) {
            case Message.Request _ -> {
                var payload = ByteBuffer.allocate(bytes);
                AttributeCodec.encode(message.attributes(), payload);
                yield payload.array();
            }
            case Message.Response response -> {
                var payload = ByteBuffer.allocate(Integer.BYTES + bytes);
                payload.putInt(response.status());
                AttributeCodec.encode(message.attributes(), payload);
                yield payload.array();
            }
        };
    }

    /**
     * Decodes a message when all its PDUs are there.
     *
     * @param header that of the first
     * @param payload of all
     */
    static Message decode(PduHeader header, ByteBuffer payload) throws IsnsException {
        if (!Functions.isResponse(header.function())) {
            // A heartbeat is not made of attributes (section 5.6.5.14).
            return new Message.Request(header.function(), header.has(PduHeader.REPLACE),
                    header.transaction(), header.function() == Functions.HEARTBEAT
                            ? List.of()
                            : AttributeCodec.decode(payload));
        }
        if (payload.remaining() < Integer.BYTES) {
            throw new IsnsException(
                    Functions.name(header.function()) + " has no status (section 5.4)");
        }
        int status = payload.getInt();
        return new Message.Response(header.function(), header.transaction(), status,
                AttributeCodec.decode(payload));
    }
}
