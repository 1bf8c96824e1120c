package lunar.iscsi.pdu;

/**
 * Header of a PDU as a value (RFC 7143 chapter 11), for login, text, task management, logs and tests. The hot path
 * accesses the same fields in place, by {@link Bhs} and the offsets that the records define.
 *
 * <p>A record contains neither data segment nor digests; {@link #encode} leaves DataSegmentLength 0, and the sender of
 * data calls {@link Bhs#lengths} afterwards. Serial numbers, tags, lengths and offsets are unsigned 32-bit values in an
 * {@code int}; compare serial numbers with {@link lunar.iscsi.SerialNumbers}, lengths with
 * {@link Integer#compareUnsigned}.
 */
public sealed interface Pdu permits InitiatorPdu, TargetPdu {
    /** Offset of the eight bytes of the LUN, in PDUs which have one. */
    int LUN = Bhs.LUN;

    /** Offset of the Initiator Task Tag. */
    int ITT = Bhs.ITT;

    /** Offset of the Target Transfer Tag, in PDUs which have one. */
    int TTT = Bhs.TTT;

    /** The opcode without the immediate bit. */
    int opcode();

    /** Initiator Task Tag, {@link Bhs#NO_TAG} for none. */
    int itt();

    /** Writes the whole header, reserved fields as 0; the data segment's length is 0 until {@link Bhs#lengths}. */
    void encode(Bhs bhs);

    /** The kind of PDU and its task, for a log line. */
    default String describe() {
        return getClass().getSimpleName() + " itt=0x" + Integer.toHexString(itt());
    }
}
