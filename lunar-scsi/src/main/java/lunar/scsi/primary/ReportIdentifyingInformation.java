package lunar.scsi.primary;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * REPORT IDENTIFYING INFORMATION (SPC-5): what an operator or a host calls the logical unit.
 *
 * @param allocationLength maximum number of bytes to return
 * @param type IDENTIFYING INFORMATION TYPE
 */
public record ReportIdentifyingInformation(long allocationLength, int type) implements StandardCdb {
    static final int OPCODE = 0xa3;
    public static final int SERVICE_ACTION = 0x05;

    public ReportIdentifyingInformation {
        CdbFields.check("allocationLength", allocationLength, 0xffff_ffffL);
        CdbFields.check("type", type, 0x7f);
    }

    public static ReportIdentifyingInformation decode(MemorySegment cdb) {
        return new ReportIdentifyingInformation(BigEndian.int32(cdb, 6),
                BigEndian.int8(cdb, 10) >> 1);
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
        BigEndian.int8(target, 10, type << 1);
    }
}
