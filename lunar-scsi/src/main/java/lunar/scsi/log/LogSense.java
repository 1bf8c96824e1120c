package lunar.scsi.log;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * LOG SENSE (SPC-5); answered by a {@link LogPage}.
 *
 * @param savePages SP: the parameters are saved first
 * @param control PC: 1 for the values counted until now
 * @param page PAGE CODE
 * @param subpage SUBPAGE CODE; FFh for all, in the pages that list pages
 * @param parameterPointer PARAMETER POINTER: the first parameter code of interest
 * @param allocationLength maximum number of bytes to return
 */
public record LogSense(boolean savePages, int control, int page, int subpage, int parameterPointer,
        int allocationLength) implements StandardCdb {
    /** PC: the values counted until now. */
    public static final int CUMULATIVE = 1;

    public static final int OPCODE = 0x4d;

    public LogSense {
        CdbFields.check("control", control, 3);
        CdbFields.check("page", page, 0x3f);
        CdbFields.check("subpage", subpage, 0xff);
        CdbFields.check("parameterPointer", parameterPointer, 0xffff);
        CdbFields.check("allocationLength", allocationLength, 0xffff);
    }

    public static LogSense decode(MemorySegment cdb) {
        return new LogSense(BigEndian.bit(cdb, 1, 0), BigEndian.int8(cdb, 2) >> 6,
                BigEndian.int8(cdb, 2) & 0x3f, BigEndian.int8(cdb, 3), BigEndian.int16(cdb, 5),
                BigEndian.int16(cdb, 7));
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public CdbForm form() { return CdbForm.CDB10; }

    @Override
    public Direction direction() { return Direction.IN; }

    @Override
    public void encode(MemorySegment target) {
        CdbForm.CDB10.start(target, OPCODE, BigEndian.bit(savePages, 0));
        BigEndian.int8(target, 2, control << 6 | page);
        BigEndian.int8(target, 3, subpage);
        BigEndian.int16(target, 5, parameterPointer);
        BigEndian.int16(target, 7, allocationLength);
    }
}
