package lunar.scsi;

import java.lang.foreign.MemorySegment;

/**
 * SET IDENTIFYING INFORMATION (SPC-5); data-out are the bytes of the information, none to erase it.
 *
 * @param parameterListLength bytes of data-out
 * @param type IDENTIFYING INFORMATION TYPE
 */
public record SetIdentifyingInformation(long parameterListLength, int type) implements StandardCdb {
    static final int OPCODE = 0xa4;
    static final int SERVICE_ACTION = 0x06;

    public SetIdentifyingInformation {
        CdbFields.check("parameterListLength", parameterListLength, 0xffff_ffffL);
        CdbFields.check("type", type, 0x7f);
    }

    static SetIdentifyingInformation decode(MemorySegment cdb) {
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
        CdbFields.start(target, CdbForm.CDB12, OPCODE, SERVICE_ACTION);
        BigEndian.int32(target, 6, parameterListLength);
        BigEndian.int8(target, 10, type << 1);
    }
}
