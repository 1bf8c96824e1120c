package lunar.scsi.block;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * WRITE ATOMIC(16) (SBC-4): all of it is written, or nothing.
 *
 * @param lba first block
 * @param blockCount number of blocks, to 65535
 * @param boundaryBlocks ATOMIC BOUNDARY: size of the parts that are atomic each; 0 for all at once
 * @param protect WRPROTECT
 * @param dpo DPO: not worth caching
 * @param fua FUA: onto stable storage
 * @param group GROUP NUMBER
 */
public record WriteAtomic(long lba, int blockCount, int boundaryBlocks, int protect, boolean dpo,
        boolean fua, int group) implements StandardCdb {
    public static final int OPCODE = 0x9c;

    private static final int BOUNDARY = 10;
    private static final int COUNT = 12;

    public WriteAtomic {
        CdbFields.check("blockCount", blockCount, 0xffff);
        CdbFields.check("boundaryBlocks", boundaryBlocks, 0xffff);
        CdbFields.check("protect", protect, 7);
        CdbFields.check("group", group, 0x3f);
    }

    public static WriteAtomic decode(MemorySegment cdb) {
        return new WriteAtomic(BlockCdb.lba(cdb, 0), BigEndian.int16(cdb, COUNT),
                BigEndian.int16(cdb, BOUNDARY), BlockCdb.protect(cdb),
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
                lba, 0, group);
        BigEndian.int16(target, BOUNDARY, boundaryBlocks);
        BigEndian.int16(target, COUNT, blockCount);
    }
}
