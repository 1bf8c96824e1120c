package lunar.scsi;

import java.lang.foreign.MemorySegment;

/**
 * LOG SENSE (SPC-5); answered by a {@link LogPage}.
 *
 * @param savePages SP: the parameters are saved first
 * @param control PC: 1 for the values counted until now
 * @param page PAGE CODE
 * @param subpage SUBPAGE CODE; FFh for all, in the pages that list pages
 * @param parameterPointer PARAMETER POINTER: the first parameter code of interest
 * @param allocationLength most bytes to return
 */
public record LogSense(boolean savePages, int control, int page, int subpage, int parameterPointer,
        int allocationLength) implements Cdb {
    /** PC: the values counted until now. */
    public static final int CUMULATIVE = 1;

    static final int OPCODE = 0x4d;

    public LogSense {
        CdbDecoder.check("control", control, 3);
        CdbDecoder.check("page", page, 0x3f);
        CdbDecoder.check("subpage", subpage, 0xff);
        CdbDecoder.check("parameterPointer", parameterPointer, 0xffff);
        CdbDecoder.check("allocationLength", allocationLength, 0xffff);
    }

    static LogSense decode(MemorySegment cdb) {
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
        CdbDecoder.start(target, CdbForm.CDB10, OPCODE, BigEndian.bit(savePages, 0));
        BigEndian.int8(target, 2, control << 6 | page);
        BigEndian.int8(target, 3, subpage);
        BigEndian.int16(target, 5, parameterPointer);
        BigEndian.int16(target, 7, allocationLength);
    }
}
