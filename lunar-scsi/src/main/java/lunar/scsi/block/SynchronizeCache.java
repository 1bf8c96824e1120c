package lunar.scsi.block;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;

/**
 * SYNCHRONIZE CACHE(10) and (16) (SBC-4): cached writes onto stable storage.
 *
 * @param form length of the CDB: 10 or 16
 * @param lba first block
 * @param blockCount number of blocks; 0 for all from {@code lba} on
 * @param immediate IMMED: status before the cache is written
 * @param group GROUP NUMBER
 */
public record SynchronizeCache(CdbForm form, long lba, long blockCount, boolean immediate,
        int group) implements StandardCdb {
    public static final int SYNCHRONIZE_10 = 0x35;
    public static final int SYNCHRONIZE_16 = 0x91;

    private static final int IMMED_BIT = 1;

    /** The whole device. */
    public static final SynchronizeCache ALL = new SynchronizeCache(CdbForm.CDB10, 0, 0, false, 0);

    public SynchronizeCache {
        BlockCdb.check(form, lba, blockCount, 0, group);
        if (form == CdbForm.CDB6) {
            throw new IllegalArgumentException("no SYNCHRONIZE CACHE of 6 bytes");
        }
        if (form == CdbForm.CDB12) {
            throw new IllegalArgumentException("no SYNCHRONIZE CACHE of 12 bytes");
        }
    }

    public static SynchronizeCache decode(CdbForm form, MemorySegment cdb) {
        return new SynchronizeCache(form, BlockCdb.lba(cdb, 0), BlockCdb.blockCount(cdb, 0),
                BlockCdb.flag(cdb, IMMED_BIT), BlockCdb.group(form, cdb));
    }

    @Override
    public int opcode() { return form == CdbForm.CDB10 ? SYNCHRONIZE_10 : SYNCHRONIZE_16; }

    @Override
    public Direction direction() { return Direction.NONE; }

    @Override
    public void encode(MemorySegment target) {
        BlockCdb.encode(target, form, opcode(), BigEndian.bit(immediate, IMMED_BIT), lba,
                blockCount, group);
    }

    @Override
    public String toString() {
        return BlockCdb.describe("SYNCHRONIZE CACHE", form, lba, blockCount, "");
    }
}
