package lunar.scsi.block;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;

/**
 * PRE-FETCH(10) and (16) (SBC-4): reads blocks into the cache.
 *
 * @param form length of the CDB: 10 or 16
 * @param lba first block
 * @param blockCount number of blocks; 0 for all from {@code lba} on
 * @param immediate IMMED: status before the blocks are read
 * @param group GROUP NUMBER
 */
public record PreFetch(CdbForm form, long lba, long blockCount, boolean immediate,
        int group) implements StandardCdb {
    public static final int FETCH_10 = 0x34;
    public static final int FETCH_16 = 0x90;

    private static final int IMMED_BIT = 1;

    public PreFetch {
        BlockCdb.check(form, lba, blockCount, 0, group);
        if (form == CdbForm.CDB6) {
            throw new IllegalArgumentException("no PRE-FETCH of 6 bytes");
        }
        if (form == CdbForm.CDB12) {
            throw new IllegalArgumentException("no PRE-FETCH of 12 bytes");
        }
    }

    public static PreFetch decode(CdbForm form, MemorySegment cdb) {
        return new PreFetch(form, BlockCdb.lba(cdb, 0), BlockCdb.blockCount(cdb, 0),
                BlockCdb.flag(cdb, IMMED_BIT), BlockCdb.group(form, cdb));
    }

    @Override
    public int opcode() { return form == CdbForm.CDB10 ? FETCH_10 : FETCH_16; }

    @Override
    public Direction direction() { return Direction.NONE; }

    @Override
    public void encode(MemorySegment target) {
        BlockCdb.encode(target, form, opcode(), BigEndian.bit(immediate, IMMED_BIT), lba,
                blockCount, group);
    }

    @Override
    public String toString() { return BlockCdb.describe("PRE-FETCH", form, lba, blockCount, ""); }
}
