package lunar.iscsi.pdu;

import java.lang.foreign.MemorySegment;
import lunar.iscsi.ProtocolException;

/**
 * Flyweight over the header of a SCSI Command (RFC 7143 section 11.3), validated and read in place; the equivalent
 * record is {@link ScsiCommand}. Reusable; allocates nothing for a command without additional header segments. Valid as
 * long as the underlying headers.
 */
public final class CommandHeader {
    private Bhs bhs = new Bhs();
    private boolean read;
    private boolean write;
    private TaskAttribute attribute = TaskAttribute.UNTAGGED;
    private MemorySegment moreOfCdb = MemorySegment.NULL;
    private int bidirectionalReadBytes;

    /** Over no command yet. */
    public CommandHeader() {}

    /** Moves to another command: its header, and its additional segments, which must be as many bytes as it tells. */
    public void read(Bhs header, MemorySegment ahs) throws ProtocolException {
        if (ahs.byteSize() != header.totalAhsLengthBytes()) {
            throw new ProtocolException("AHS of " + ahs.byteSize()
                    + " bytes are not TotalAHSLength (RFC 7143 section 11.2.1.5)");
        }
        HeaderRule.requireTask(header, "SCSI Command", "11.2.1.8");
        bhs = header;
        int flags = header.flags();
        read = (flags & ScsiCommand.READ) != 0;
        write = (flags & ScsiCommand.WRITE) != 0;
        HeaderRule.require(header.isFinal() || write, "SCSI Command without F and W", "11.3.1");
        HeaderRule.require(read || write || expectedDataTransferBytes() == 0,
                "SCSI Command without R and W that expects data", "11.3.1");
        moreOfCdb = MemorySegment.NULL;
        bidirectionalReadBytes = 0;
        if (ahs.byteSize() > 0) {
            readSegments(ahs);
        }
        attribute = TaskAttribute.decode(flags & ScsiCommand.ATTRIBUTE_MASK);
    }

    private void readSegments(MemorySegment ahs) throws ProtocolException {
        for (Ahs each : Ahs.decode(ahs)) {
            switch (each) {
                case Ahs.ExtendedCdb(MemorySegment rest) -> moreOfCdb = rest;
                case Ahs.BidirectionalReadLength(int bytes) -> {
                    HeaderRule.require((read && write) || bytes == 0,
                            "a bidirectional read length without R and W", "11.2.2.4");
                    bidirectionalReadBytes = bytes;
                }
            }
        }
    }

    /** The I bit: outside the order of the others. */
    public boolean immediate() {
        return bhs.immediate();
    }

    /** No unsolicited Data-Out follow. */
    public boolean isFinal() { return bhs.isFinal(); }

    /** The command returns data. */
    public boolean read() { return read; }

    /** The command takes data. */
    public boolean write() { return write; }

    public TaskAttribute attribute() { return attribute; }

    /** 0 for none, else 1 (first) to 15 (last). */
    public int priority() {
        return bhs.int8(ScsiCommand.PRIORITY) >> 4;
    }

    /** The eight bytes of the LUN as a number. */
    public long lun() { return bhs.lun(); }

    public int itt() { return bhs.itt(); }

    /** Expected Data Transfer Length, unsigned; for a bidirectional command the length of data-out. */
    public int expectedDataTransferBytes() {
        return bhs.int32(ScsiCommand.EXPECTED_DATA_TRANSFER_LENGTH);
    }

    public int cmdSn() { return bhs.int32(InitiatorPdu.CMD_SN); }

    public int expStatSn() { return bhs.int32(InitiatorPdu.EXP_STAT_SN); }

    /** Returns the expected data-in length of a command with R and W, unsigned; otherwise 0. */
    public int bidirectionalReadBytes() {
        return bidirectionalReadBytes;
    }

    /** Bytes of the CDB: {@link ScsiCommand#CDB_LENGTH}, or more. */
    public int cdbLength() {
        return ScsiCommand.CDB_LENGTH + (int) moreOfCdb.byteSize();
    }

    /** Copies {@link #cdbLength} bytes to the front of a segment. */
    public void copyCdb(MemorySegment to) {
        bhs.copy(ScsiCommand.CDB, to, ScsiCommand.CDB_LENGTH);
        if (moreOfCdb.byteSize() > 0) {
            MemorySegment.copy(moreOfCdb, 0, to, ScsiCommand.CDB_LENGTH, moreOfCdb.byteSize());
        }
    }
}
