package lunar.scsi.block;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * UNMAP (SBC-4); the ranges are in an {@link UnmapParameterList}.
 *
 * @param anchor ANCHOR: the blocks become anchored
 * @param group GROUP NUMBER
 * @param parameterListLength bytes of data-out
 */
public record Unmap(boolean anchor, int group, int parameterListLength) implements StandardCdb {
    public static final int OPCODE = 0x42;

    public Unmap {
        CdbFields.check("group", group, 0x3f);
        CdbFields.check("parameterListLength", parameterListLength, 0xffff);
    }

    public static Unmap decode(MemorySegment cdb) {
        return new Unmap(BigEndian.bit(cdb, 1, 0), BlockCdb.group(CdbForm.CDB10, cdb),
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
        CdbForm.CDB10.start(target, OPCODE, BigEndian.bit(anchor, 0));
        BigEndian.int8(target, 6, group);
        BigEndian.int16(target, 7, parameterListLength);
    }
}
