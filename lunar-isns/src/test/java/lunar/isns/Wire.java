package lunar.isns;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** Bytes that a peer sends, split into messages like those of a connection. */
final class Wire {
    private Wire() {}

    /** The bytes of hexadecimal digits; white space does not count. */
    static byte[] hex(String digits) {
        return HexFormat.of().parseHex(digits.replaceAll("\\s+", ""));
    }

    static String hex(byte[] bytes) { return HexFormat.of().formatHex(bytes); }

    /** The messages that are whole. */
    static List<Message> decode(byte[] bytes) throws IsnsException {
        var messages = new ArrayList<Message>();
        var assembler = new MessageAssembler();
        var rest = ByteBuffer.wrap(bytes);
        while (rest.remaining() >= PduHeader.BYTES) {
            PduHeader header = PduHeader.decode(rest);
            if (header.lengthBytes() > rest.remaining()) {
                break;
            }
            byte[] payload = new byte[header.lengthBytes()];
            rest.get(payload);
            assembler.add(header, payload).ifPresent(messages::add);
        }
        return messages;
    }
}
