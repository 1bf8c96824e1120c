package lunar.iser.wire;

import java.lang.foreign.MemorySegment;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.framing.Framing;
import lunar.iscsi.pdu.Bhs;

/**
 * Takes a message with a PDU apart: iSER header, basic header segment, additional header segments, data segment and its
 * padding. Reused for each message; a cursor, which allocates nothing but the views of its parts.
 */
public final class ReceivedMessage {
    /** Bytes before the additional header segments. */
    public static final int HEADERS = IserHeader.LENGTH + Bhs.LENGTH;

    private static final int WORD_MASK = 3;

    private final Bhs bhs = new Bhs();
    private MemorySegment message = MemorySegment.NULL;
    private int ahsBytes;
    private int dataBytes;

    /**
     * Moves to a message.
     *
     * @param received all of it, and nothing else
     * @throws ProtocolException if it is not a control message, its lengths contradict each other, or exceed the limits
     */
    public void wrap(MemorySegment received, Framing limits) throws ProtocolException {
        long length = received.byteSize();
        if (length < HEADERS) {
            throw new ProtocolException("iSER message of " + length
                    + " bytes, less than its headers (RFC 7145 section 9.2)");
        }
        if (IserHeader.kind(received) != IserHeader.CONTROL) {
            throw new ProtocolException(
                    "iSER message of kind " + Integer.toHexString(IserHeader.kind(received) >>> 4)
                            + "h where a PDU is due (RFC 7145 section 9.1)");
        }
        bhs.wrap(received.asSlice(IserHeader.LENGTH, Bhs.LENGTH));
        int ahs = bhs.totalAhsLengthBytes();
        int data = bhs.dataSegmentLength();
        if (ahs > limits.maxReceiveAhsBytes() || data > limits.maxReceiveDataBytes()) {
            throw new ProtocolException("PDU with " + ahs + " bytes of AHS and " + data
                    + " bytes of data, over the limits of " + limits.maxReceiveAhsBytes() + " and "
                    + limits.maxReceiveDataBytes());
        }
        // Some senders leave the padding out (RFC 7145 section 9.2 has it).
        if (length != HEADERS + ahs + data
                && length != HEADERS + ahs + data + (-data & WORD_MASK)) {
            throw new ProtocolException("iSER message of " + length + " bytes with a PDU of "
                    + (HEADERS - IserHeader.LENGTH + ahs + data) + " (RFC 7145 section 9.2)");
        }
        message = received;
        ahsBytes = ahs;
        dataBytes = data;
    }

    /** The basic header; valid until the next {@link #wrap}. */
    public Bhs bhs() { return bhs; }

    public MemorySegment ahs() {
        return ahsBytes == 0 ? MemorySegment.NULL : message.asSlice(HEADERS, ahsBytes);
    }

    public int dataBytes() { return dataBytes; }

    /** The data segment, without padding. */
    public MemorySegment data() {
        return dataBytes == 0
                ? MemorySegment.NULL
                : message.asSlice(HEADERS + ahsBytes, dataBytes);
    }
}
