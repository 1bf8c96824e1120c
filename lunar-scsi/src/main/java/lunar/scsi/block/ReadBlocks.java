package lunar.scsi.block;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;

/**
 * READ(6), (10), (12) and (16) (SBC-4). {@link BlockCdb} reads the same without allocation.
 *
 * @param form length of the CDB; 6 bytes hold neither protect, DPO, FUA nor group
 * @param lba first block
 * @param blockCount number of blocks; 0 is a command that transfers nothing, and has no place in 6 bytes
 * @param protect RDPROTECT
 * @param dpo DPO: not worth caching
 * @param fua FUA: from stable storage
 * @param group GROUP NUMBER
 */
public record ReadBlocks(CdbForm form, long lba, long blockCount, int protect, boolean dpo,
        boolean fua, int group) implements StandardCdb {
    public ReadBlocks {
        BlockCdb.check(form, lba, blockCount, protect, group);
        if (form == CdbForm.CDB6 && (dpo || fua)) {
            throw new IllegalArgumentException("READ(6) has neither DPO nor FUA");
        }
    }

    /** In 10 bytes if they suffice, else in 16. */
    public static ReadBlocks of(long lba, long blockCount) {
        return new ReadBlocks(BlockCdb.formFor(lba, blockCount), lba, blockCount, 0, false, false,
                0);
    }

    public static ReadBlocks decode(CdbForm form, MemorySegment cdb) {
        boolean flags = form != CdbForm.CDB6; // where the others have flags, 6 bytes have the LBA
        return new ReadBlocks(form, BlockCdb.lba(cdb, 0), BlockCdb.blockCount(cdb, 0),
                flags ? BlockCdb.protect(cdb) : 0,
                flags && BlockCdb.flag(cdb, BlockCdb.DPO_BIT), BlockCdb.fua(cdb, 0),
                BlockCdb.group(form, cdb));
    }

    @Override
    public int opcode() {
        return form == CdbForm.CDB6
                ? BlockCdb.READ_6
                : BlockCdb.opcode(form, BlockCdb.READ_10, BlockCdb.READ_12, BlockCdb.READ_16);
    }

    @Override
    public Direction direction() { return blockCount == 0 ? Direction.NONE : Direction.IN; }

    @Override
    public void encode(MemorySegment target) {
        BlockCdb.encode(target, form, opcode(),
                protect << 5 | BigEndian.bit(dpo, BlockCdb.DPO_BIT)
                        | BigEndian.bit(fua, BlockCdb.FUA_BIT),
                lba, blockCount, group);
    }

    @Override
    public String toString() {
        return BlockCdb.describe("READ", form, lba, blockCount, fua ? " fua" : "");
    }
}
