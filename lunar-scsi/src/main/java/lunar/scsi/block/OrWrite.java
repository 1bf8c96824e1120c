package lunar.scsi.block;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;

/**
 * ORWRITE(16) (SBC-4). Writes the bitwise OR of the medium and data-out.
 *
 * @param lba first block
 * @param blockCount number of blocks
 * @param protect ORPROTECT
 * @param dpo DPO: not worth caching
 * @param fua FUA: onto stable storage
 * @param group GROUP NUMBER
 */
public record OrWrite(long lba, long blockCount, int protect, boolean dpo, boolean fua, int group)
        implements
        StandardCdb {
    public static final int OPCODE = 0x8b;

    public OrWrite {
        BlockCdb.check(CdbForm.CDB16, lba, blockCount, protect, group);
    }

    public static OrWrite decode(MemorySegment cdb) {
        return new OrWrite(BlockCdb.lba(cdb, 0), BlockCdb.blockCount(cdb, 0), BlockCdb.protect(cdb),
                BlockCdb.flag(cdb, BlockCdb.DPO_BIT), BlockCdb.flag(cdb, BlockCdb.FUA_BIT),
                BlockCdb.group(CdbForm.CDB16, cdb));
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public CdbForm form() { return CdbForm.CDB16; }

    @Override
    public Direction direction() { return blockCount == 0 ? Direction.NONE : Direction.OUT; }

    @Override
    public void encode(MemorySegment target) {
        BlockCdb.encode(target, CdbForm.CDB16, OPCODE,
                protect << 5 | BigEndian.bit(dpo, BlockCdb.DPO_BIT)
                        | BigEndian.bit(fua, BlockCdb.FUA_BIT),
                lba, blockCount, group);
    }
}
