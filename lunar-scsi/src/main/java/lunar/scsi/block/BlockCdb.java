package lunar.scsi.block;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.wire.BigEndian;

/**
 * Reads the common fields of block commands (SBC-4 chapter 5) in place and without allocation, for READ and WRITE.
 * Offsets depend on the length of the CDB.
 *
 * <pre>
 *           6 bytes   10      12      16
 * flags     -         1       1       1     protect 7-5, DPO 4, FUA 3
 * LBA       1 (21 b)  2 (4)   2 (4)   2 (8)
 * count     4 (1)     7 (2)   6 (4)   10 (4)
 * group     -         6       10      14
 * control   5         9       11      15
 * </pre>
 */
public final class BlockCdb {
    public static final int READ_6 = 0x08, READ_10 = 0x28, READ_12 = 0xa8, READ_16 = 0x88;
    public static final int WRITE_6 = 0x0a, WRITE_10 = 0x2a, WRITE_12 = 0xaa, WRITE_16 = 0x8a;

    static final int FLAGS = 1;
    static final int DPO_BIT = 4;
    static final int FUA_BIT = 3;
    public static final int NACA_BIT = 2;
    private static final int GROUP_MASK = 0x3f;
    private static final int LBA_6_MASK = 0x1f_ffff;
    private static final int COUNT_6_ZERO = 256;
    private static final long UINT32_MAX = 0xffff_ffffL;

    private BlockCdb() {}

    /** OPERATION CODE of the CDB that starts at byte {@code at} of a segment. */
    public static int opcode(MemorySegment segment, long at) {
        return BigEndian.int8(segment, at);
    }

    /** Whether the operation code is READ(6), (10), (12) or (16). */
    public static boolean opcodeIsRead(int opcode) {
        return opcode == READ_10 || opcode == READ_16 || opcode == READ_6 || opcode == READ_12;
    }

    /** Whether the operation code is WRITE(6), (10), (12) or (16). */
    public static boolean opcodeIsWrite(int opcode) {
        return opcode == WRITE_10 || opcode == WRITE_16 || opcode == WRITE_6 || opcode == WRITE_12;
    }

    /** First logical block of a READ or WRITE; negative values stand for 2^63 and above. */
    public static long lba(MemorySegment segment, long at) {
        return switch (opcode(segment, at) >> 5) {
            case 0 -> BigEndian.int24(segment, at + 1) & LBA_6_MASK;
            case 4 -> BigEndian.int64(segment, at + 2);
            default -> BigEndian.int32(segment, at + 2);
        };
    }

    /** Number of logical blocks of a READ or WRITE; a zero in the 6-byte form stands for 256 (SBC-4). */
    public static long blockCount(MemorySegment segment, long at) {
        return switch (opcode(segment, at) >> 5) {
            case 0 -> {
                int count = BigEndian.int8(segment, at + 4);
                yield count == 0 ? COUNT_6_ZERO : count;
            }
            case 4 -> BigEndian.int32(segment, at + 10);
            case 5 -> BigEndian.int32(segment, at + 6);
            default -> BigEndian.int16(segment, at + 7);
        };
    }

    /** Whether FUA asks for stable storage. The 6-byte form has no such bit. */
    public static boolean fua(MemorySegment segment, long at) {
        return opcode(segment, at) >> 5 != 0 && BigEndian.bit(segment, at + FLAGS, FUA_BIT);
    }

    /**
     * Whether a READ or WRITE asks for nothing but LBA, count, DPO and FUA: neither protection information nor
     * NACA. A caller on the fast path checks this first and passes anything else to {@link
     * lunar.scsi.command.CdbDecoder#decode}.
     */
    public static boolean isPlain(MemorySegment segment, long at) {
        int group = opcode(segment, at) >> 5;
        int control = switch (group) {
            case 0 -> 5;
            case 4 -> 15;
            case 5 -> 11;
            default -> 9;
        };
        return !BigEndian.bit(segment, at + control, NACA_BIT)
                && (group == 0 || (BigEndian.int8(segment, at + FLAGS) & 0xe0) == 0);
    }

    static int flags(MemorySegment cdb) { return BigEndian.int8(cdb, FLAGS); }

    /** RDPROTECT and its siblings: bits 7 to 5 of the flags. */
    static int protect(MemorySegment cdb) {
        return flags(cdb) >> 5;
    }

    static boolean flag(MemorySegment cdb, int bit) { return BigEndian.bit(cdb, FLAGS, bit); }

    /** GROUP NUMBER; 0 in the 6-byte form. */
    static int group(CdbForm form, MemorySegment cdb) {
        return switch (form) {
            case CDB6 -> 0;
            case CDB10 -> BigEndian.int8(cdb, 6) & GROUP_MASK;
            case CDB12 -> BigEndian.int8(cdb, 10) & GROUP_MASK;
            case CDB16 -> BigEndian.int8(cdb, 14) & GROUP_MASK;
        };
    }

    /** The operation code that belongs to the form. */
    static int opcode(CdbForm form, int ten, int twelve, int sixteen) {
        return switch (form) {
            case CDB10 -> ten;
            case CDB12 -> twelve;
            case CDB16 -> sixteen;
            case CDB6 -> throw new IllegalArgumentException("no such command of 6 bytes");
        };
    }

    /** Refuses what has no place in a CDB of this form. */
    static void check(CdbForm form, long lba, long blockCount, int protect, int group) {
        boolean fits = switch (form) {
            case CDB6 -> lba >= 0 && lba <= LBA_6_MASK && blockCount >= 1
                    && blockCount <= COUNT_6_ZERO && protect == 0 && group == 0;
            case CDB10 -> lba >= 0 && lba <= UINT32_MAX && blockCount >= 0 && blockCount <= 0xffff;
            case CDB12 -> lba >= 0 && lba <= UINT32_MAX && blockCount >= 0
                    && blockCount <= UINT32_MAX;
            case CDB16 -> blockCount >= 0 && blockCount <= UINT32_MAX;
        };
        if (!fits || protect < 0 || protect > 7 || group < 0 || group > GROUP_MASK) {
            throw new IllegalArgumentException("no place in " + form + " for lba " + lba
                    + ", blocks " + blockCount + ", protect " + protect + ", group " + group);
        }
    }

    /** The shortest form of 10 and 16 bytes that holds both numbers. */
    static CdbForm formFor(long lba, long blockCount) {
        return lba >= 0 && lba <= UINT32_MAX && blockCount <= 0xffff
                ? CdbForm.CDB10
                : CdbForm.CDB16;
    }

    /** Writes a READ, of 10 bytes if they suffice, else of 16; returns its length. */
    public static int encodeRead(MemorySegment target, long lba, long blockCount) {
        CdbForm form = formFor(lba, blockCount);
        encode(target, form, opcode(form, READ_10, READ_12, READ_16), 0, lba, blockCount, 0);
        return form.length();
    }

    /** Writes a WRITE, of 10 bytes if they suffice, else of 16; returns its length. */
    public static int encodeWrite(MemorySegment target, long lba, long blockCount, boolean fua) {
        CdbForm form = formFor(lba, blockCount);
        encode(target, form, opcode(form, WRITE_10, WRITE_12, WRITE_16),
                BigEndian.bit(fua, FUA_BIT), lba, blockCount, 0);
        return form.length();
    }

    private static void clear(MemorySegment target, CdbForm form) {
        BigEndian.int32(target, 0, 0);
        BigEndian.int16(target, 4, 0);
        if (form != CdbForm.CDB6) {
            BigEndian.int32(target, 6, 0);
        }
        switch (form) {
            case CDB6, CDB10 -> {
            }
            case CDB12 -> BigEndian.int16(target, 10, 0);
            case CDB16 -> {
                BigEndian.int16(target, 10, 0);
                BigEndian.int32(target, 12, 0);
            }
        }
    }

    /** Writes a whole CDB. */
    static void encode(MemorySegment target, CdbForm form, int opcode, int flags, long lba,
            long blockCount, int group) {
        clear(target, form);
        BigEndian.int8(target, 0, opcode);
        BigEndian.int8(target, FLAGS, flags);
        switch (form) {
            case CDB6 -> {
                BigEndian.int24(target, 1, (int) lba);
                BigEndian.int8(target, 4, (int) blockCount);
            }
            case CDB10 -> {
                BigEndian.int32(target, 2, lba);
                BigEndian.int8(target, 6, group);
                BigEndian.int16(target, 7, (int) blockCount);
            }
            case CDB12 -> {
                BigEndian.int32(target, 2, lba);
                BigEndian.int32(target, 6, blockCount);
                BigEndian.int8(target, 10, group);
            }
            case CDB16 -> {
                BigEndian.int64(target, 2, lba);
                BigEndian.int32(target, 10, blockCount);
                BigEndian.int8(target, 14, group);
            }
        }
    }

    /** For logs: {@code READ(16) lba=4096 blocks=8}. */
    static String describe(String name, CdbForm form, long lba, long blockCount, String more) {
        return name + "(" + form.length() + ") lba=" + Long.toUnsignedString(lba) + " blocks="
                + blockCount + more;
    }
}
