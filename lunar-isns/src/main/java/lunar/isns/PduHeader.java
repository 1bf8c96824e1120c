package lunar.isns;

import java.nio.ByteBuffer;

/**
 * Header of a PDU, 12 bytes before the payload (RFC 4171 section 5.1).
 *
 * <pre>
 *  0  iSNSP VERSION          FUNCTION ID
 *  4  PDU LENGTH             FLAGS
 *  8  TRANSACTION ID         SEQUENCE ID
 * </pre>
 *
 * @param function function identifier
 * @param lengthBytes length of the payload, a multiple of 4
 * @param flags see below
 * @param transaction transaction ID; equal in a response and its request
 * @param sequence number of the PDU within the message, from 0
 */
record PduHeader(int function, int lengthBytes, int flags, int transaction, int sequence) {
    static final int BYTES = 12;

    /** The longest payload: the length has 16 bits. */
    static final int MAX_PAYLOAD_BYTES = 0xfffc;

    static final int FROM_CLIENT = 0x8000;
    static final int FROM_SERVER = 0x4000;
    static final int SIGNED = 0x2000;
    static final int REPLACE = 0x1000;
    static final int LAST = 0x0800;
    static final int FIRST = 0x0400;

    private static final int VERSION = 1;

    boolean has(int flag) { return (flags & flag) != 0; }

    void encode(ByteBuffer into) {
        into.putShort((short) VERSION).putShort((short) function).putShort((short) lengthBytes)
                .putShort((short) flags).putShort((short) transaction).putShort((short) sequence);
    }

    static PduHeader decode(ByteBuffer bytes) throws IsnsException {
        int version = bytes.getShort() & 0xffff;
        var header = new PduHeader(bytes.getShort() & 0xffff, bytes.getShort() & 0xffff,
                bytes.getShort() & 0xffff, bytes.getShort() & 0xffff, bytes.getShort() & 0xffff);
        if (version != VERSION) {
            throw new IsnsException("message has version " + version + " instead of " + VERSION
                    + ": is this an iSNS server?");
        }
        if (header.lengthBytes % Integer.BYTES != 0) {
            throw new IsnsException("a PDU of " + header.lengthBytes
                    + " bytes, which is not a multiple of 4 (section 5.1.3)");
        }
        if (header.has(SIGNED)) {
            throw new IsnsException("the server signs its messages, which is not supported; disable"
                    + " that at the server (section 5.5)");
        }
        return header;
    }
}
