package lunar.iscsi.pdu;

import lunar.iscsi.ProtocolException;

/**
 * Checks of received headers. Reserved bits are ignored, while a reserved code in a defined field is a protocol error
 * (RFC 7143 chapter 11, before section 11.1), except where the protocol defines a response to it.
 */
final class HeaderRule {
    /** The F bit, or the bit in its position: T of a login, a fixed 1 in other PDUs. */
    static final int FINAL = 0x80;

    /** The C bit of text and login PDUs: the text continues in the next PDU. */
    static final int CONTINUE = 0x40;

    private HeaderRule() {}

    /** Throws unless a rule holds. */
    static void require(boolean holds, String rule, String section) throws ProtocolException {
        if (!holds) {
            throw new ProtocolException(rule + " (RFC 7143 section " + section + ")");
        }
    }

    /** Throws unless the F bit is set, for PDUs with a layout that fixes it to 1. */
    static void requireFinal(Bhs bhs, String pdu, String section) throws ProtocolException {
        if (!bhs.isFinal()) {
            throw new ProtocolException(
                    pdu + " must have the F bit (RFC 7143 section " + section + ")");
        }
    }

    /** Throws if a request has no task tag, so that nothing could answer it. */
    static void requireTask(Bhs bhs, String pdu, String section) throws ProtocolException {
        if (bhs.itt() == Bhs.NO_TAG) {
            throw new ProtocolException(pdu + " needs an Initiator Task Tag other than 0xffffffff"
                    + " (RFC 7143 section " + section + ")");
        }
    }

    /** Throws if a PDU which cannot have additional header segments has some. */
    static void withoutAhs(Bhs bhs) throws ProtocolException {
        if (bhs.totalAhsLengthBytes() != 0) {
            throw new ProtocolException("TotalAHSLength must be 0 with opcode 0x"
                    + Integer.toHexString(bhs.opcode()) + " (RFC 7143 section 11.2.1.5)");
        }
    }

    static ProtocolException unknownOpcode(int opcode, String sender) {
        return new ProtocolException("opcode 0x" + Integer.toHexString(opcode)
                + " is not valid from " + sender + " (RFC 7143 section 11.2.1.2)");
    }

    static ProtocolException reserved(String field, int code, String section) {
        return new ProtocolException(field + " has the reserved code " + code
                + " (RFC 7143 section " + section + ")");
    }
}
