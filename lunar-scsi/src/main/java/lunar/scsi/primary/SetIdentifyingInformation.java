package lunar.scsi.primary;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * SET IDENTIFYING INFORMATION (SPC-5); data-out are the bytes of the information, none to erase it.
 *
 * @param parameterListLength bytes of data-out
 * @param type IDENTIFYING INFORMATION TYPE
 */
public record SetIdentifyingInformation(long parameterListLength, int type) implements StandardCdb {
    static final int OPCODE = 0xa4;
    public static final int SERVICE_ACTION = 0x06;

    public SetIdentifyingInformation {
        CdbFields.check("parameterListLength", parameterListLength, 0xffff_ffffL);
        CdbFields.check("type", type, 0x7f);
    }

    public static SetIdentifyingInformation decode(MemorySegment cdb) {
        return new SetIdentifyingInformation(BigEndian.int32(cdb, 6),
                BigEndian.int8(cdb, 10) >> 1);
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public CdbForm form() { return CdbForm.CDB12; }

    @Override
    public Direction direction() {
        return parameterListLength == 0 ? Direction.NONE : Direction.OUT;
    }

    @Override
    public void encode(MemorySegment target) {
        CdbForm.CDB12.start(target, OPCODE, SERVICE_ACTION);
        BigEndian.int32(target, 6, parameterListLength);
        BigEndian.int8(target, 10, type << 1);
    }
}
