package lunar.scsi.block;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;

/**
 * WRITE SAME(10) and (16) (SBC-4): one block of data-out to many.
 *
 * @param form length of the CDB: 10 or 16
 * @param lba first block
 * @param blockCount number of blocks; 0 for all from {@code lba} on
 * @param protect WRPROTECT
 * @param anchor ANCHOR: unmapped blocks become anchored
 * @param unmap UNMAP: blocks may be unmapped
 * @param noDataOut NDOB, 16 bytes only: zeroes, without data-out
 * @param group GROUP NUMBER
 */
public record WriteSame(CdbForm form, long lba, long blockCount, int protect, boolean anchor,
        boolean unmap, boolean noDataOut, int group) implements StandardCdb {
    public static final int SAME_10 = 0x41;
    public static final int SAME_16 = 0x93;

    private static final int ANCHOR_BIT = 4;
    private static final int UNMAP_BIT = 3;
    private static final int PBDATA_BIT = 2;
    private static final int LBDATA_BIT = 1;
    private static final int NDOB_BIT = 0;

    public WriteSame {
        BlockCdb.check(form, lba, blockCount, protect, group);
        if (form == CdbForm.CDB6) {
            throw new IllegalArgumentException("no WRITE SAME of 6 bytes");
        }
        if (form == CdbForm.CDB12) {
            throw new IllegalArgumentException("no WRITE SAME of 12 bytes");
        }
        if (noDataOut && form != CdbForm.CDB16) {
            throw new IllegalArgumentException("NDOB needs WRITE SAME(16)");
        }
    }

    public static WriteSame decode(CdbForm form, MemorySegment cdb) throws InvalidCdbException {
        // Obsolete since SBC-3; an initiator that sets them expects other content than one block repeated.
        if (BlockCdb.flag(cdb, PBDATA_BIT)) {
            throw InvalidCdbException.field(1, PBDATA_BIT);
        }
        if (BlockCdb.flag(cdb, LBDATA_BIT)) {
            throw InvalidCdbException.field(1, LBDATA_BIT);
        }
        return new WriteSame(form, BlockCdb.lba(cdb, 0), BlockCdb.blockCount(cdb, 0),
                BlockCdb.protect(cdb),
                BlockCdb.flag(cdb, ANCHOR_BIT), BlockCdb.flag(cdb, UNMAP_BIT),
                form == CdbForm.CDB16 && BlockCdb.flag(cdb, NDOB_BIT), BlockCdb.group(form, cdb));
    }

    @Override
    public int opcode() { return form == CdbForm.CDB10 ? SAME_10 : SAME_16; }

    @Override
    public Direction direction() { return noDataOut ? Direction.NONE : Direction.OUT; }

    @Override
    public void encode(MemorySegment target) {
        BlockCdb.encode(target, form, opcode(),
                protect << 5 | BigEndian.bit(anchor, ANCHOR_BIT) | BigEndian.bit(unmap, UNMAP_BIT)
                        | BigEndian.bit(noDataOut, NDOB_BIT),
                lba, blockCount, group);
    }

    @Override
    public String toString() {
        return BlockCdb.describe("WRITE SAME", form, lba, blockCount,
                (unmap ? " unmap" : "") + (noDataOut ? " ndob" : ""));
    }
}
