package lunar.scsi.mode;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * MODE SENSE(6) and (10) (SPC-5); {@link ModePages} answers it.
 *
 * @param form 6 or 10 bytes
 * @param longLba LLBAA, 10 bytes only: long block descriptors are welcome
 * @param noBlockDescriptors DBD
 * @param control PC: which values are wanted
 * @param page PAGE CODE; {@link #ALL_PAGES} for all
 * @param subpage SUBPAGE CODE; FFh for all
 * @param allocationLength maximum number of bytes to return
 */
public record ModeSense(CdbForm form, boolean longLba, boolean noBlockDescriptors,
        PageControl control, int page, int subpage, int allocationLength) implements StandardCdb {
    /** PC: which of the four values of each field; the ordinal is the code. */
    public enum PageControl {
        CURRENT,
        /** A mask: one for each bit that MODE SELECT may change. */
        CHANGEABLE,
        DEFAULT,
        SAVED;

        private static final PageControl[] ALL = values();

        /** The code on the wire. */
        @SuppressWarnings("EnumOrdinal") // the standard numbers them from 0
        public int code() { return ordinal(); }
    }

    /** PAGE CODE that asks for every page. */
    public static final int ALL_PAGES = 0x3f;
    /** SUBPAGE CODE that asks for every subpage. */
    public static final int ALL_SUBPAGES = 0xff;

    public static final int SENSE_6 = 0x1a;
    public static final int SENSE_10 = 0x5a;

    private static final int LLBAA_BIT = 4;
    private static final int DBD_BIT = 3;

    public ModeSense {
        boolean ten = form == CdbForm.CDB10;
        if (!ten && (form != CdbForm.CDB6 || longLba)) {
            throw new IllegalArgumentException("no such MODE SENSE of " + form);
        }
        CdbFields.check("page", page, 0x3f);
        CdbFields.check("subpage", subpage, 0xff);
        CdbFields.check("allocationLength", allocationLength,
                form == CdbForm.CDB6 ? 0xff : 0xffff);
    }

    /** MODE SENSE(6) for the current values of a page, without block descriptors. */
    public static ModeSense current6(int page) {
        return new ModeSense(CdbForm.CDB6, false, true, PageControl.CURRENT, page, 0, 0xff);
    }

    public static ModeSense decode(CdbForm form, MemorySegment cdb) {
        boolean six = form == CdbForm.CDB6;
        int controlAndPage = BigEndian.int8(cdb, 2);
        return new ModeSense(form, !six && BigEndian.bit(cdb, 1, LLBAA_BIT),
                BigEndian.bit(cdb, 1, DBD_BIT), PageControl.ALL[controlAndPage >> 6],
                controlAndPage & 0x3f, BigEndian.int8(cdb, 3),
                six ? BigEndian.int8(cdb, 4) : BigEndian.int16(cdb, 7));
    }

    @Override
    public int opcode() { return form == CdbForm.CDB6 ? SENSE_6 : SENSE_10; }

    @Override
    public Direction direction() { return Direction.IN; }

    @Override
    public void encode(MemorySegment target) {
        form.start(target, opcode(), BigEndian.bit(longLba, LLBAA_BIT)
                | BigEndian.bit(noBlockDescriptors, DBD_BIT));
        BigEndian.int8(target, 2, control.code() << 6 | page);
        BigEndian.int8(target, 3, subpage);
        if (form == CdbForm.CDB6) {
            BigEndian.int8(target, 4, allocationLength);
        } else {
            BigEndian.int16(target, 7, allocationLength);
        }
    }
}
