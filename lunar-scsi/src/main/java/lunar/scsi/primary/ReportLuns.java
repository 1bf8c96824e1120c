package lunar.scsi.primary;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * REPORT LUNS (SPC-5): the logical units an initiator may use.
 *
 * @param select SELECT REPORT: 0 the ordinary, 1 the well-known, 2 all logical units, 10h to 12h those that are
 *        administrative, or below the addressed one
 * @param allocationLength maximum number of bytes to return
 */
public record ReportLuns(int select, long allocationLength) implements StandardCdb {
    public static final int OPCODE = 0xa0;

    public ReportLuns {
        CdbFields.check("select", select, 0xff);
        CdbFields.check("allocationLength", allocationLength, 0xffff_ffffL);
    }

    public static ReportLuns decode(MemorySegment cdb) {
        return new ReportLuns(BigEndian.int8(cdb, 2), BigEndian.int32(cdb, 6));
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public CdbForm form() { return CdbForm.CDB12; }

    @Override
    public Direction direction() { return Direction.IN; }

    @Override
    public void encode(MemorySegment target) {
        CdbForm.CDB12.start(target, OPCODE, 0);
        BigEndian.int8(target, 2, select);
        BigEndian.int32(target, 6, allocationLength);
    }
}
