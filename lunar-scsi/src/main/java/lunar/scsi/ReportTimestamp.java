package lunar.scsi;

import java.lang.foreign.MemorySegment;

/**
 * REPORT TIMESTAMP (SPC-5); answered by a {@link Timestamp}.
 *
 * @param allocationLength most bytes to return
 */
public record ReportTimestamp(long allocationLength) implements StandardCdb {
    static final int OPCODE = 0xa3;
    static final int SERVICE_ACTION = 0x0f;

    public ReportTimestamp {
        CdbFields.check("allocationLength", allocationLength, 0xffff_ffffL);
    }

    static ReportTimestamp decode(MemorySegment cdb) {
        return new ReportTimestamp(BigEndian.int32(cdb, 6));
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public CdbForm form() { return CdbForm.CDB12; }

    @Override
    public Direction direction() { return Direction.IN; }

    @Override
    public void encode(MemorySegment target) {
        CdbFields.start(target, CdbForm.CDB12, OPCODE, SERVICE_ACTION);
        BigEndian.int32(target, 6, allocationLength);
    }
}
