package lunar.scsi.primary;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * RECEIVE DIAGNOSTIC RESULTS (SPC-5).
 *
 * @param pageValid PCV: a page is asked for, rather than what the last SEND DIAGNOSTIC left
 * @param page PAGE CODE
 * @param allocationLength maximum number of bytes to return
 */
public record ReceiveDiagnosticResults(boolean pageValid, int page, int allocationLength)
        implements StandardCdb {
    public static final int OPCODE = 0x1c;

    public ReceiveDiagnosticResults {
        CdbFields.check("page", page, 0xff);
        CdbFields.check("allocationLength", allocationLength, 0xffff);
    }

    public static ReceiveDiagnosticResults decode(MemorySegment cdb) {
        return new ReceiveDiagnosticResults(BigEndian.bit(cdb, 1, 0), BigEndian.int8(cdb, 2),
                BigEndian.int16(cdb, 3));
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public CdbForm form() { return CdbForm.CDB6; }

    @Override
    public Direction direction() { return Direction.IN; }

    @Override
    public void encode(MemorySegment target) {
        CdbForm.CDB6.start(target, OPCODE, BigEndian.bit(pageValid, 0));
        BigEndian.int8(target, 2, page);
        BigEndian.int16(target, 3, allocationLength);
    }
}
