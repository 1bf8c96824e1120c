package lunar.scsi.block;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;

/**
 * WRITE AND VERIFY(10), (12) and (16) (SBC-4).
 *
 * @param form length of the CDB: 10, 12 or 16
 * @param lba first block
 * @param blockCount number of blocks
 * @param protect WRPROTECT
 * @param dpo DPO: not worth caching
 * @param bytchk BYTCHK: 0 reads the medium after the write, 1 compares it with data-out
 * @param group GROUP NUMBER
 */
public record WriteAndVerify(CdbForm form, long lba, long blockCount, int protect, boolean dpo,
        int bytchk, int group) implements StandardCdb {
    public static final int WRITE_VERIFY_10 = 0x2e;
    public static final int WRITE_VERIFY_12 = 0xae;
    public static final int WRITE_VERIFY_16 = 0x8e;

    private static final int BYTCHK_BIT = 2;

    public WriteAndVerify {
        BlockCdb.check(form, lba, blockCount, protect, group);
        if (form == CdbForm.CDB6) {
            throw new IllegalArgumentException("no WRITE AND VERIFY of 6 bytes");
        }
        if (bytchk < 0 || bytchk > 1) {
            throw new IllegalArgumentException("BYTCHK " + bytchk);
        }
    }

    public static WriteAndVerify decode(CdbForm form, MemorySegment cdb)
            throws InvalidCdbException {
        int bytchk = BlockCdb.flags(cdb) >> 1 & 3;
        if (bytchk > 1) { // 2 and 3 are reserved here
            throw InvalidCdbException.field(1, BYTCHK_BIT);
        }
        return new WriteAndVerify(form, BlockCdb.lba(cdb, 0), BlockCdb.blockCount(cdb, 0),
                BlockCdb.protect(cdb),
                BlockCdb.flag(cdb, BlockCdb.DPO_BIT), bytchk, BlockCdb.group(form, cdb));
    }

    @Override
    public int opcode() {
        return BlockCdb.opcode(form, WRITE_VERIFY_10, WRITE_VERIFY_12, WRITE_VERIFY_16);
    }

    @Override
    public Direction direction() { return blockCount == 0 ? Direction.NONE : Direction.OUT; }

    @Override
    public void encode(MemorySegment target) {
        BlockCdb.encode(target, form, opcode(),
                protect << 5 | BigEndian.bit(dpo, BlockCdb.DPO_BIT) | bytchk << 1, lba, blockCount,
                group);
    }

    @Override
    public String toString() {
        return BlockCdb.describe("WRITE AND VERIFY", form, lba, blockCount, " bytchk=" + bytchk);
    }
}
