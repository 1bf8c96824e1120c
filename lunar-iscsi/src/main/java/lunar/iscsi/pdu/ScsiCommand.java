package lunar.iscsi.pdu;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import lunar.iscsi.ProtocolException;
import lunar.scsi.Lun;

/**
 * SCSI Command (RFC 7143 section 11.3; priority: RFC 7144 section 4.1).
 *
 * <pre>
 * Byte/     0       |       1       |       2       |       3       |
 *    0|.|I| 0x01    |F|R|W|. .|ATTR | PRI   |. . . .| Reserved      |
 *    4|TotalAHSLength | DataSegmentLength                           |
 *    8| Logical Unit Number (LUN)                                   |
 *   16| Initiator Task Tag                                          |
 *   20| Expected Data Transfer Length                               |
 *   24| CmdSN                                                       |
 *   28| ExpStatSN                                                   |
 *   32/ SCSI Command Descriptor Block (CDB), 16 bytes               /
 *   48/ AHS                                                         /
 * </pre>
 *
 * @param isFinal no unsolicited Data-Out PDUs follow; unset only in a command that writes
 * @param read the command returns data
 * @param write the command takes data
 * @param priority 0 for none, else 1 (first) to 15 (last)
 * @param expectedDataTransferBytes Expected Data Transfer Length, unsigned; for a bidirectional command the length of
 *        data-out
 * @param cdb an immutable copy on the heap, zero-padded to 16 bytes; at most 260
 * @param bidirectionalReadBytes expected data-in length of a command with R and W, unsigned; otherwise 0
 */
public record ScsiCommand(boolean immediate, boolean isFinal, boolean read, boolean write,
        TaskAttribute attribute, int priority, Lun lun, int itt, int expectedDataTransferBytes,
        int cmdSn, int expStatSn, MemorySegment cdb, int bidirectionalReadBytes)
        implements
        InitiatorPdu {
    public static final int OPCODE = 0x01;

    /** Flags in byte 1, beside F. */
    public static final int READ = 0x40;
    public static final int WRITE = 0x20;
    public static final int ATTRIBUTE_MASK = 0x07;

    /** Offset of the command priority, in the high half of the byte. */
    public static final int PRIORITY = 2;
    public static final int EXPECTED_DATA_TRANSFER_LENGTH = 20;
    public static final int CDB = 32;

    /** Bytes of a CDB that fit the header. */
    public static final int CDB_LENGTH = 16;

    public ScsiCommand {
        if (priority < 0 || priority > 15) {
            throw new IllegalArgumentException("a command priority of " + priority);
        }
        if ((!write && !isFinal) || (bidirectionalReadBytes != 0 && !(read && write))
                || (!read && !write && expectedDataTransferBytes != 0)) {
            throw new IllegalArgumentException(
                    "F, R and W do not match the lengths, itt=" + itt);
        }
        if (cdb.byteSize() > CDB_LENGTH + Ahs.ExtendedCdb.MAX_BYTES) {
            throw new IllegalArgumentException("a CDB of " + cdb.byteSize() + " bytes");
        }
        byte[] copy = new byte[Math.max(CDB_LENGTH, (int) cdb.byteSize())];
        MemorySegment.copy(cdb, ValueLayout.JAVA_BYTE, 0, copy, 0, (int) cdb.byteSize());
        cdb = MemorySegment.ofArray(copy).asReadOnly();
    }

    /** A command with the most usual values: not immediate, simple, no priority, all in the header. */
    public static ScsiCommand of(Lun lun, int itt, MemorySegment cdb, int cmdSn, int expStatSn) {
        return new ScsiCommand(false, true, false, false, TaskAttribute.SIMPLE, 0, lun, itt, 0,
                cmdSn, expStatSn, cdb, 0);
    }

    /** The header and its additional segments, which must be as many bytes as it tells. */
    public static ScsiCommand decode(Bhs bhs, MemorySegment ahs) throws ProtocolException {
        var header = new CommandHeader();
        header.read(bhs, ahs);
        MemorySegment cdb = MemorySegment.ofArray(new byte[header.cdbLength()]);
        header.copyCdb(cdb);
        return new ScsiCommand(header.immediate(), header.isFinal(), header.read(), header.write(),
                header.attribute(), header.priority(), new Lun(header.lun()), header.itt(),
                header.expectedDataTransferBytes(), header.cmdSn(), header.expStatSn(), cdb,
                header.bidirectionalReadBytes());
    }

    @Override
    public int opcode() { return OPCODE; }

    /** Bytes of the additional header segments; 0 unless the CDB is long or the command bidirectional. */
    public int ahsBytes() {
        return (isExtended() ? extendedCdb().lengthBytes() : 0)
                + (read && write
                        ? new Ahs.BidirectionalReadLength(bidirectionalReadBytes)
                                .lengthBytes()
                        : 0);
    }

    /** Writes {@link #ahsBytes} bytes of additional header segments. */
    public void encodeAhs(MemorySegment to) {
        long at = 0;
        if (isExtended()) {
            Ahs.ExtendedCdb extended = extendedCdb();
            extended.encode(to);
            at = extended.lengthBytes();
        }
        if (read && write) {
            new Ahs.BidirectionalReadLength(bidirectionalReadBytes).encode(to.asSlice(at));
        }
    }

    @Override
    public void encode(Bhs bhs) {
        int flags = (isFinal ? HeaderRule.FINAL : 0) | (read ? READ : 0) | (write ? WRITE : 0)
                | attribute.code();
        bhs.start(OPCODE, immediate, flags).int8(PRIORITY, priority << 4).lengths(ahsBytes(), 0)
                .int64(LUN, lun.value()).int32(ITT, itt)
                .int32(EXPECTED_DATA_TRANSFER_LENGTH, expectedDataTransferBytes)
                .int32(CMD_SN, cmdSn).int32(EXP_STAT_SN, expStatSn);
        MemorySegment.copy(cdb, 0, bhs.bytes(), CDB, CDB_LENGTH);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ScsiCommand that && immediate == that.immediate
                && isFinal == that.isFinal && read == that.read && write == that.write
                && attribute == that.attribute && priority == that.priority && lun.equals(that.lun)
                && itt == that.itt && expectedDataTransferBytes == that.expectedDataTransferBytes
                && cmdSn == that.cmdSn && expStatSn == that.expStatSn
                && cdb.mismatch(that.cdb) == -1
                && bidirectionalReadBytes == that.bidirectionalReadBytes;
    }

    @Override
    public int hashCode() { return (itt * 31 + cmdSn) * 31 + cdb.asByteBuffer().hashCode(); }

    @Override
    public String toString() {
        return describe() + " lun=" + lun + " cmdSn=" + Integer.toUnsignedString(cmdSn)
                + " expStatSn=" + Integer.toUnsignedString(expStatSn) + (read ? " R" : "")
                + (write ? " W" : "") + (isFinal ? " F" : "") + (immediate ? " I" : "") + " "
                + attribute + " bytes=" + Integer.toUnsignedString(expectedDataTransferBytes)
                + (read && write ? "/" + Integer.toUnsignedString(bidirectionalReadBytes) : "")
                + " cdb=" + HexFormat.of().formatHex(cdb.toArray(ValueLayout.JAVA_BYTE));
    }

    private boolean isExtended() { return cdb.byteSize() > CDB_LENGTH; }

    private Ahs.ExtendedCdb extendedCdb() { return new Ahs.ExtendedCdb(cdb.asSlice(CDB_LENGTH)); }
}
