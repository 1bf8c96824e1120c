package lunar.scsi;

import java.lang.foreign.MemorySegment;

/**
 * PREVENT ALLOW MEDIUM REMOVAL (SPC-5).
 *
 * @param prevent PREVENT: 0 allows, 1 prevents; 2 and 3 are obsolete
 */
public record PreventAllowMediumRemoval(int prevent) implements StandardCdb {
    static final int OPCODE = 0x1e;

    public PreventAllowMediumRemoval {
        CdbFields.check("prevent", prevent, 3);
    }

    static PreventAllowMediumRemoval decode(MemorySegment cdb) {
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
        CdbFields.start(target, CdbForm.CDB6, OPCODE, 0);
        BigEndian.int8(target, 4, prevent);
    }
}
