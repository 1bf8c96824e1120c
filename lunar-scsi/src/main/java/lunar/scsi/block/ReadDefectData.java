package lunar.scsi.block;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * READ DEFECT DATA(10) and (12) (SBC-4).
 *
 * @param form length of the CDB: 10 or 12
 * @param primaryList REQ_PLIST
 * @param grownList REQ_GLIST
 * @param listFormat DEFECT LIST FORMAT
 * @param firstIndex ADDRESS DESCRIPTOR INDEX, of 12 bytes only
 * @param allocationLength maximum number of bytes to return
 */
public record ReadDefectData(CdbForm form, boolean primaryList, boolean grownList, int listFormat,
        long firstIndex, long allocationLength) implements StandardCdb {
    public static final int DEFECTS_10 = 0x37;
    public static final int DEFECTS_12 = 0xb7;

    public ReadDefectData {
        boolean ten = form == CdbForm.CDB10;
        if (!ten && form != CdbForm.CDB12) {
            throw new IllegalArgumentException("no READ DEFECT DATA of " + form);
        }
        CdbFields.check("listFormat", listFormat, 7);
        CdbFields.check("firstIndex", firstIndex, ten ? 0 : 0xffff_ffffL);
        CdbFields.check("allocationLength", allocationLength, ten ? 0xffff : 0xffff_ffffL);
    }

    public static ReadDefectData decode(CdbForm form, MemorySegment cdb) {
        boolean ten = form == CdbForm.CDB10;
        int flags = ten ? 2 : 1;
        return new ReadDefectData(form, BigEndian.bit(cdb, flags, 4), BigEndian.bit(cdb, flags, 3),
                BigEndian.int8(cdb, flags) & 7, ten ? 0 : BigEndian.int32(cdb, 2),
                ten ? BigEndian.int16(cdb, 7) : BigEndian.int32(cdb, 6));
    }

    /** The answer of a medium without defects: a header alone, which says which lists were asked for. */
    public byte[] noDefects() {
        byte[] array = new byte[form == CdbForm.CDB10 ? 4 : 8];
        BigEndian.int8(MemorySegment.ofArray(array), 1, listFlags());
        return array;
    }

    private int listFlags() {
        return BigEndian.bit(primaryList, 4) | BigEndian.bit(grownList, 3) | listFormat;
    }

    @Override
    public int opcode() { return form == CdbForm.CDB10 ? DEFECTS_10 : DEFECTS_12; }

    @Override
    public Direction direction() { return Direction.IN; }

    @Override
    public void encode(MemorySegment target) {
        boolean ten = form == CdbForm.CDB10;
        form.start(target, opcode(), ten ? 0 : listFlags());
        if (ten) {
            BigEndian.int8(target, 2, listFlags());
            BigEndian.int16(target, 7, (int) allocationLength);
        } else {
            BigEndian.int32(target, 2, firstIndex);
            BigEndian.int32(target, 6, allocationLength);
        }
    }
}
