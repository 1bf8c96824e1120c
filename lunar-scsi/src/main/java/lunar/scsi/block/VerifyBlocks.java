package lunar.scsi.block;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;

/**
 * VERIFY(10), (12) and (16) (SBC-4).
 *
 * @param form length of the CDB: 10, 12 or 16
 * @param lba first block
 * @param blockCount number of blocks
 * @param protect VRPROTECT
 * @param dpo DPO: not worth caching
 * @param bytchk BYTCHK: 0 reads the medium, 1 compares with data-out, 3 compares each block with the one of data-out
 * @param group GROUP NUMBER
 */
public record VerifyBlocks(CdbForm form, long lba, long blockCount, int protect, boolean dpo,
        int bytchk, int group) implements StandardCdb {
    public static final int VERIFY_10 = 0x2f;
    public static final int VERIFY_12 = 0xaf;
    public static final int VERIFY_16 = 0x8f;

    private static final int BYTCHK_BIT = 2;

    public VerifyBlocks {
        BlockCdb.check(form, lba, blockCount, protect, group);
        if (form == CdbForm.CDB6) {
            throw new IllegalArgumentException("no VERIFY of 6 bytes");
        }
        if (bytchk < 0 || bytchk > 3 || bytchk == 2) {
            throw new IllegalArgumentException("BYTCHK " + bytchk);
        }
    }

    public static VerifyBlocks decode(CdbForm form, MemorySegment cdb) throws InvalidCdbException {
        int bytchk = BlockCdb.flags(cdb) >> 1 & 3;
        if (bytchk == 2) { // reserved
            throw InvalidCdbException.field(1, BYTCHK_BIT);
        }
        return new VerifyBlocks(form, BlockCdb.lba(cdb, 0), BlockCdb.blockCount(cdb, 0),
                BlockCdb.protect(cdb),
                BlockCdb.flag(cdb, BlockCdb.DPO_BIT), bytchk, BlockCdb.group(form, cdb));
    }

    @Override
    public int opcode() { return BlockCdb.opcode(form, VERIFY_10, VERIFY_12, VERIFY_16); }

    @Override
    public Direction direction() {
        return bytchk == 0 || blockCount == 0 ? Direction.NONE : Direction.OUT;
    }

    @Override
    public void encode(MemorySegment target) {
        BlockCdb.encode(target, form, opcode(),
                protect << 5 | BigEndian.bit(dpo, BlockCdb.DPO_BIT) | bytchk << 1, lba, blockCount,
                group);
    }

    @Override
    public String toString() {
        return BlockCdb.describe("VERIFY", form, lba, blockCount, " bytchk=" + bytchk);
    }
}
