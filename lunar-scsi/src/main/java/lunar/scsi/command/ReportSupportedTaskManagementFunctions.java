package lunar.scsi.command;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * REPORT SUPPORTED TASK MANAGEMENT FUNCTIONS (SPC-5).
 *
 * @param repd REPD: the extended data
 * @param allocationLength maximum number of bytes to return
 */
public record ReportSupportedTaskManagementFunctions(boolean repd,
        long allocationLength) implements StandardCdb {
    static final int OPCODE = 0xa3;
    static final int SERVICE_ACTION = 0x0d;

    public ReportSupportedTaskManagementFunctions {
        CdbFields.check("allocationLength", allocationLength, 0xffff_ffffL);
    }

    static ReportSupportedTaskManagementFunctions decode(MemorySegment cdb) {
        return new ReportSupportedTaskManagementFunctions(BigEndian.bit(cdb, 2, 7),
                BigEndian.int32(cdb, 6));
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
        BigEndian.int8(target, 2, BigEndian.bit(repd, 7));
        BigEndian.int32(target, 6, allocationLength);
    }
}
