package lunar.scsi.mode;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * MODE SELECT(6) and (10) (SPC-5); data-out is a {@link ModeParameters}.
 *
 * @param form 6 or 10 bytes
 * @param pageFormat PF: the pages are as the standard has them
 * @param revertToDefaults RTD: all pages take their defaults
 * @param savePages SP: the values are saved too
 * @param parameterListLength bytes of data-out
 */
public record ModeSelect(CdbForm form, boolean pageFormat, boolean revertToDefaults,
        boolean savePages, int parameterListLength) implements StandardCdb {
    public static final int SELECT_6 = 0x15;
    public static final int SELECT_10 = 0x55;

    private static final int PF_BIT = 4;
    private static final int RTD_BIT = 1;
    private static final int SP_BIT = 0;

    public ModeSelect {
        if (form != CdbForm.CDB6 && form != CdbForm.CDB10) {
            throw new IllegalArgumentException("no MODE SELECT of " + form);
        }
        CdbFields.check("parameterListLength", parameterListLength,
                form == CdbForm.CDB6 ? 0xff : 0xffff);
    }

    public static ModeSelect decode(CdbForm form, MemorySegment cdb) {
        return new ModeSelect(form, BigEndian.bit(cdb, 1, PF_BIT), BigEndian.bit(cdb, 1, RTD_BIT),
                BigEndian.bit(cdb, 1, SP_BIT),
                form == CdbForm.CDB6 ? BigEndian.int8(cdb, 4) : BigEndian.int16(cdb, 7));
    }

    @Override
    public int opcode() { return form == CdbForm.CDB6 ? SELECT_6 : SELECT_10; }

    @Override
    public Direction direction() {
        return parameterListLength == 0 ? Direction.NONE : Direction.OUT;
    }

    @Override
    public void encode(MemorySegment target) {
        form.start(target, opcode(), BigEndian.bit(pageFormat, PF_BIT)
                | BigEndian.bit(revertToDefaults, RTD_BIT) | BigEndian.bit(savePages, SP_BIT));
        if (form == CdbForm.CDB6) {
            BigEndian.int8(target, 4, parameterListLength);
        } else {
            BigEndian.int16(target, 7, parameterListLength);
        }
    }
}
