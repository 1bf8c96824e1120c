package lunar.scsi.block;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * COMPARE AND WRITE (SBC-4). Data-out is twice {@code blockCount} blocks: compare, then write.
 *
 * @param lba first block
 * @param blockCount blocks compared and written, to 255
 * @param protect WRPROTECT
 * @param dpo DPO: not worth caching
 * @param fua FUA: onto stable storage
 * @param group GROUP NUMBER
 */
public record CompareAndWrite(long lba, int blockCount, int protect, boolean dpo, boolean fua,
        int group) implements StandardCdb {
    public static final int OPCODE = 0x89;

    public CompareAndWrite {
        CdbFields.check("blockCount", blockCount, 0xff);
        CdbFields.check("protect", protect, 7);
        CdbFields.check("group", group, 0x3f);
    }

    public static CompareAndWrite decode(MemorySegment cdb) {
        return new CompareAndWrite(BigEndian.int64(cdb, 2), BigEndian.int8(cdb, 13),
                BlockCdb.protect(cdb), BlockCdb.flag(cdb, BlockCdb.DPO_BIT),
                BlockCdb.flag(cdb, BlockCdb.FUA_BIT), BlockCdb.group(CdbForm.CDB16, cdb));
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public CdbForm form() { return CdbForm.CDB16; }

    @Override
    public Direction direction() { return blockCount == 0 ? Direction.NONE : Direction.OUT; }

    @Override
    public void encode(MemorySegment target) {
        // NUMBER OF LOGICAL BLOCKS is the last of the four bytes where others have their count.
        BlockCdb.encode(target, CdbForm.CDB16, OPCODE,
                protect << 5 | BigEndian.bit(dpo, BlockCdb.DPO_BIT)
                        | BigEndian.bit(fua, BlockCdb.FUA_BIT),
                lba, blockCount, group);
    }
}
