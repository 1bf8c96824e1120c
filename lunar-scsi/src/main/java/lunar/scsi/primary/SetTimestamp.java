package lunar.scsi.primary;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * SET TIMESTAMP (SPC-5); data-out is a {@link Timestamp}.
 *
 * @param parameterListLength bytes of data-out
 */
public record SetTimestamp(long parameterListLength) implements StandardCdb {
    static final int OPCODE = 0xa4;
    public static final int SERVICE_ACTION = 0x0f;

    public SetTimestamp {
        CdbFields.check("parameterListLength", parameterListLength, 0xffff_ffffL);
    }

    public static SetTimestamp decode(MemorySegment cdb) {
        return new SetTimestamp(BigEndian.int32(cdb, 6));
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
    }
}
