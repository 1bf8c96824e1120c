package lunar.scsi.copy;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * POPULATE TOKEN (SBC-4 section 5.12): makes a ROD token that represents blocks; its data-out is
 * {@link PopulateTokenList}.
 *
 * @param listIdentifier by which {@link ReceiveCopyResults} asks for the outcome
 * @param parameterListLength bytes of data-out
 * @param group GROUP NUMBER
 */
public record PopulateToken(long listIdentifier, long parameterListLength, int group)
        implements StandardCdb {
    public static final int SERVICE_ACTION = 0x10;

    public PopulateToken {
        CdbFields.check("listIdentifier", listIdentifier, 0xffff_ffffL);
        CdbFields.check("parameterListLength", parameterListLength, 0xffff_ffffL);
        CdbFields.check("group", group, 0x3f);
    }

    static PopulateToken decode(MemorySegment cdb) {
        return new PopulateToken(BigEndian.int32(cdb, 6), BigEndian.int32(cdb, 10),
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
