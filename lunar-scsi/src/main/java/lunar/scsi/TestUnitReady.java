package lunar.scsi;

import java.lang.foreign.MemorySegment;

/** TEST UNIT READY (SPC-5): is the logical unit ready? */
public record TestUnitReady() implements StandardCdb {
    static final int OPCODE = 0x00;

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public CdbForm form() { return CdbForm.CDB6; }

    @Override
    public Direction direction() { return Direction.NONE; }

    @Override
    public void encode(MemorySegment target) { CdbFields.start(target, CdbForm.CDB6, OPCODE, 0); }
}
