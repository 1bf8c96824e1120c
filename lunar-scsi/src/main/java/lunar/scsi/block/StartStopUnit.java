package lunar.scsi.block;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * START STOP UNIT (SBC-4).
 *
 * @param immediate IMMED: status before the operation has ended
 * @param powerConditionModifier POWER CONDITION MODIFIER
 * @param powerCondition POWER CONDITION; 0 where START and LOEJ count
 * @param noFlush NO_FLUSH: caches need not be written
 * @param loadEject LOEJ
 * @param start START
 */
public record StartStopUnit(boolean immediate, int powerConditionModifier, int powerCondition,
        boolean noFlush,
        boolean loadEject, boolean start) implements StandardCdb {
    public static final int OPCODE = 0x1b;

    public StartStopUnit {
        CdbFields.check("powerConditionModifier", powerConditionModifier, 0xf);
        CdbFields.check("powerCondition", powerCondition, 0xf);
    }

    public static StartStopUnit decode(MemorySegment cdb) {
        return new StartStopUnit(BigEndian.bit(cdb, 1, 0), BigEndian.int8(cdb, 3) & 0xf,
                BigEndian.int8(cdb, 4) >> 4, BigEndian.bit(cdb, 4, 2), BigEndian.bit(cdb, 4, 1),
                BigEndian.bit(cdb, 4, 0));
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public CdbForm form() { return CdbForm.CDB6; }

    @Override
    public Direction direction() { return Direction.NONE; }

    @Override
    public void encode(MemorySegment target) {
        CdbForm.CDB6.start(target, OPCODE, BigEndian.bit(immediate, 0));
        BigEndian.int8(target, 3, powerConditionModifier);
        BigEndian.int8(target, 4, powerCondition << 4 | BigEndian.bit(noFlush, 2)
                | BigEndian.bit(loadEject, 1) | BigEndian.bit(start, 0));
    }
}
