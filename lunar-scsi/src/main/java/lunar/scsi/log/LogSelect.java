package lunar.scsi.log;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * LOG SELECT (SPC-5): sets log parameters, or takes them back to their defaults.
 *
 * @param reset PCR: the parameters take their defaults
 * @param savePages SP: the parameters are saved
 * @param control PC: which values are set
 * @param page PAGE CODE; 0 for all
 * @param subpage SUBPAGE CODE
 * @param parameterListLength bytes of data-out
 */
public record LogSelect(boolean reset, boolean savePages, int control, int page, int subpage,
        int parameterListLength) implements StandardCdb {
    /** PC: the default values of what is counted. */
    public static final int DEFAULT_CUMULATIVE = 3;

    public static final int OPCODE = 0x4c;

    public LogSelect {
        CdbFields.check("control", control, 3);
        CdbFields.check("page", page, 0x3f);
        CdbFields.check("subpage", subpage, 0xff);
        CdbFields.check("parameterListLength", parameterListLength, 0xffff);
    }

    public static LogSelect decode(MemorySegment cdb) {
        return new LogSelect(BigEndian.bit(cdb, 1, 1), BigEndian.bit(cdb, 1, 0),
                BigEndian.int8(cdb, 2) >> 6, BigEndian.int8(cdb, 2) & 0x3f, BigEndian.int8(cdb, 3),
                BigEndian.int16(cdb, 7));
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public CdbForm form() { return CdbForm.CDB10; }

    @Override
    public Direction direction() {
        return parameterListLength == 0 ? Direction.NONE : Direction.OUT;
    }

    @Override
    public void encode(MemorySegment target) {
        CdbForm.CDB10.start(target, OPCODE,
                BigEndian.bit(reset, 1) | BigEndian.bit(savePages, 0));
        BigEndian.int8(target, 2, control << 6 | page);
        BigEndian.int8(target, 3, subpage);
        BigEndian.int16(target, 7, parameterListLength);
    }
}
