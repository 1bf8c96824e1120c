package lunar.scsi.block;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * PREVENT ALLOW MEDIUM REMOVAL (SPC-5).
 *
 * @param prevent PREVENT: 0 allows, 1 prevents; 2 and 3 are obsolete
 */
public record PreventAllowMediumRemoval(int prevent) implements StandardCdb {
    public static final int OPCODE = 0x1e;

    public PreventAllowMediumRemoval {
        CdbFields.check("prevent", prevent, 3);
    }

    public static PreventAllowMediumRemoval decode(MemorySegment cdb) {
        return new PreventAllowMediumRemoval(BigEndian.int8(cdb, 4) & 3);
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public CdbForm form() { return CdbForm.CDB6; }

    @Override
    public Direction direction() { return Direction.NONE; }

    @Override
    public void encode(MemorySegment target) {
        CdbForm.CDB6.start(target, OPCODE, 0);
        BigEndian.int8(target, 4, prevent);
    }
}
