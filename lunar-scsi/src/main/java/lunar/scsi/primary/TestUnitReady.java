package lunar.scsi.primary;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.CdbFields;

/** TEST UNIT READY (SPC-5): is the logical unit ready? */
public record TestUnitReady() implements StandardCdb {
    public static final int OPCODE = 0x00;

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public CdbForm form() { return CdbForm.CDB6; }

    @Override
    public Direction direction() { return Direction.NONE; }

    @Override
    public void encode(MemorySegment target) { CdbForm.CDB6.start(target, OPCODE, 0); }
}
