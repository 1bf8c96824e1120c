package lunar.scsi.primary;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * REPORT TARGET PORT GROUPS (SPC-5).
 *
 * @param extended whether PARAMETER DATA FORMAT asks for the extended header
 * @param allocationLength maximum number of bytes to return
 */
public record ReportTargetPortGroups(boolean extended, long allocationLength)
        implements StandardCdb {
    public static final int OPCODE = 0xa3;
    public static final int SERVICE_ACTION = 0x0a;

    public ReportTargetPortGroups {
        CdbFields.check("allocationLength", allocationLength, 0xffff_ffffL);
    }

    public static ReportTargetPortGroups decode(MemorySegment cdb) throws InvalidCdbException {
        int format = BigEndian.int8(cdb, 1) >> 5;
        if (format > 1) {
            throw InvalidCdbException.field(1, 7);
        }
        return new ReportTargetPortGroups(format == 1, BigEndian.int32(cdb, 6));
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public CdbForm form() { return CdbForm.CDB12; }

    @Override
    public Direction direction() { return Direction.IN; }

    @Override
    public void encode(MemorySegment target) {
        CdbForm.CDB12.start(target, OPCODE,
                BigEndian.bit(extended, 5) | SERVICE_ACTION);
        BigEndian.int32(target, 6, allocationLength);
    }
}
