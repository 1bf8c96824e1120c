package lunar.scsi.block;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * FORMAT UNIT (SBC-4).
 *
 * @param protectionInformation FMTPINFO
 * @param longList LONGLIST: the long parameter list header
 * @param parameterList FMTDATA: a parameter list follows
 * @param completeList CMPLST
 * @param defectListFormat DEFECT LIST FORMAT
 * @param fastFormat FFMT
 */
public record FormatUnit(int protectionInformation, boolean longList, boolean parameterList,
        boolean completeList, int defectListFormat, int fastFormat) implements StandardCdb {
    public static final int OPCODE = 0x04;

    public FormatUnit {
        CdbFields.check("protectionInformation", protectionInformation, 3);
        CdbFields.check("defectListFormat", defectListFormat, 7);
        CdbFields.check("fastFormat", fastFormat, 3);
    }

    public static FormatUnit decode(MemorySegment cdb) {
        int flags = BigEndian.int8(cdb, 1);
        return new FormatUnit(flags >> 6, BigEndian.bit(cdb, 1, 5), BigEndian.bit(cdb, 1, 4),
                BigEndian.bit(cdb, 1, 3), flags & 7, BigEndian.int8(cdb, 4) & 3);
    }

    /** Bytes of data-out: the parameter list's header, as defect lists are not taken. */
    public int parameterListLength() {
        return !parameterList ? 0 : longList ? 8 : 4;
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public CdbForm form() { return CdbForm.CDB6; }

    @Override
    public Direction direction() { return parameterList ? Direction.OUT : Direction.NONE; }

    @Override
    public void encode(MemorySegment target) {
        CdbForm.CDB6.start(target, OPCODE,
                protectionInformation << 6 | BigEndian.bit(longList, 5)
                        | BigEndian.bit(parameterList, 4) | BigEndian.bit(completeList, 3)
                        | defectListFormat);
        BigEndian.int8(target, 4, fastFormat);
    }
}
