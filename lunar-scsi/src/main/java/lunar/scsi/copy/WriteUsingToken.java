package lunar.scsi.copy;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * WRITE USING TOKEN (SBC-4 section 5.59): writes what a ROD token represents; its data-out is
 * {@link WriteUsingTokenList}.
 *
 * @param listIdentifier by which {@link ReceiveCopyResults} asks for the outcome
 * @param parameterListLength bytes of data-out
 * @param group GROUP NUMBER
 */
public record WriteUsingToken(long listIdentifier, long parameterListLength, int group)
        implements StandardCdb {
    public static final int SERVICE_ACTION = 0x11;

    public WriteUsingToken {
        CdbFields.check("listIdentifier", listIdentifier, 0xffff_ffffL);
        CdbFields.check("parameterListLength", parameterListLength, 0xffff_ffffL);
        CdbFields.check("group", group, 0x3f);
    }

    static WriteUsingToken decode(MemorySegment cdb) {
        return new WriteUsingToken(BigEndian.int32(cdb, 6), BigEndian.int32(cdb, 10),
                BigEndian.int8(cdb, 14) & 0x3f);
    }

    @Override
    public int opcode() { return ExtendedCopy.OPCODE; }

    @Override
    public CdbForm form() { return CdbForm.CDB16; }

    @Override
    public Direction direction() {
        return parameterListLength == 0 ? Direction.NONE : Direction.OUT;
    }

    @Override
    public void encode(MemorySegment target) {
        CdbForm.CDB16.start(target, ExtendedCopy.OPCODE, SERVICE_ACTION);
        BigEndian.int32(target, 6, listIdentifier);
        BigEndian.int32(target, 10, parameterListLength);
        BigEndian.int8(target, 14, group);
    }
}
