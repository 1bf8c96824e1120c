package lunar.scsi.primary;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * REPORT TIMESTAMP (SPC-5); answered by a {@link Timestamp}.
 *
 * @param allocationLength maximum number of bytes to return
 */
public record ReportTimestamp(long allocationLength) implements StandardCdb {
    static final int OPCODE = 0xa3;
    public static final int SERVICE_ACTION = 0x0f;

    public ReportTimestamp {
        CdbFields.check("allocationLength", allocationLength, 0xffff_ffffL);
    }

    public static ReportTimestamp decode(MemorySegment cdb) {
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
        CdbForm.CDB12.start(target, OPCODE, SERVICE_ACTION);
        BigEndian.int32(target, 6, allocationLength);
    }
}
