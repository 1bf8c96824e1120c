package lunar.iser.wire;

import java.lang.foreign.MemorySegment;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.framing.Framing;
import lunar.iscsi.pdu.Bhs;

/**
 * Decodes a received message that carries a PDU: iSER header, basic header segment, additional header segments, data
 * segment, padding. Reused for each message; allocates only views of the parts. For one thread at a time.
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
     * Decodes a message, and refers to it until the next call.
     *
     * @param received the whole message, and nothing else
     * @throws ProtocolException if the message does not carry a PDU, or its lengths are inconsistent or exceed the
     *         limits
     */
    public void wrap(MemorySegment received, Framing limits) throws ProtocolException {
        long length = received.byteSize();
        if (length < HEADERS) {
            throw new ProtocolException("iSER message of " + length
                    + " bytes, shorter than its headers (RFC 7145 section 9.2)");
        }
        if (IserHeader.kind(received) != IserHeader.CONTROL) {
            throw new ProtocolException(
                    "iSER message with opcode "
                            + Integer.toHexString(IserHeader.kind(received) >>> 4)
                            + "h in place of a PDU (RFC 7145 section 9.1)");
        }
        bhs.wrap(received.asSlice(IserHeader.LENGTH, Bhs.LENGTH));
        int ahs = bhs.totalAhsLengthBytes();
        int data = bhs.dataSegmentLength();
        if (ahs > limits.maxReceiveAhsBytes() || data > limits.maxReceiveDataBytes()) {
            throw new ProtocolException("PDU with " + ahs + " bytes of AHS and " + data
                    + " bytes of data exceeds the limits of " + limits.maxReceiveAhsBytes()
                    + " and "
                    + limits.maxReceiveDataBytes());
        }
        // Some senders omit the padding, although RFC 7145 section 9.2 requires it.
        if (length != HEADERS + ahs + data
                && length != HEADERS + ahs + data + (-data & WORD_MASK)) {
            throw new ProtocolException("iSER message of " + length + " bytes with a PDU of "
                    + (HEADERS - IserHeader.LENGTH + ahs + data) + " (RFC 7145 section 9.2)");
        }
        message = received;
        ahsBytes = ahs;
        dataBytes = data;
    }

    /** Returns the basic header segment; valid until the next {@link #wrap}. */
    public Bhs bhs() {
        return bhs;
    }

    public MemorySegment ahs() {
        return ahsBytes == 0 ? MemorySegment.NULL : message.asSlice(HEADERS, ahsBytes);
    }

    public int dataBytes() { return dataBytes; }

    /** Returns the data segment without padding. */
    public MemorySegment data() {
        return dataBytes == 0
                ? MemorySegment.NULL
                : message.asSlice(HEADERS + ahsBytes, dataBytes);
    }
}
