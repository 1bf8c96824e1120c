package lunar.scsi.block;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.CdbFields;

/** READ CAPACITY(10) (SBC-4). Its obsolete LBA and PMI are not read. */
public record ReadCapacity10() implements StandardCdb {
    public static final int OPCODE = 0x25;

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public CdbForm form() { return CdbForm.CDB10; }

    @Override
    public Direction direction() { return Direction.IN; }

    @Override
    public void encode(MemorySegment target) { CdbForm.CDB10.start(target, OPCODE, 0); }
}
