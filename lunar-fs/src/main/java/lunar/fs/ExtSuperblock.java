package lunar.fs;

import static lunar.fs.LittleEndian.s32;
import static lunar.fs.LittleEndian.u16;
import static lunar.fs.LittleEndian.u32;
import static lunar.fs.LittleEndian.u8;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.zip.CRC32C;

/**
 * The superblock of ext2, ext3 and ext4: 1024 bytes at byte 1024 (Linux, Documentation/filesystems/ext4/super.rst). All
 * values used in later arithmetic are validated here.
 *
 * @param blockSize 1024 to 65536
 * @param blockCount blocks of the file system
 * @param firstDataBlock block of group 0's start
 * @param blocksPerGroup at least 1
 * @param inodesPerGroup at least 1
 * @param inodeCount numbers go from 1 to this
 * @param inodeBytes 128 to a block
 * @param descriptorBytes of a group, 32 to a block
 * @param firstMetaGroup first meta group whose descriptors are in its own groups
 * @param features the three words of features
 * @param backupGroups the two groups with copies, where sparse_super2 is set
 * @param info description of the file system
 */
record ExtSuperblock(int blockSize, long blockCount, long firstDataBlock, long blocksPerGroup,
        long inodesPerGroup, long inodeCount, int inodeBytes, int descriptorBytes,
        long firstMetaGroup, Features features, List<Long> backupGroups, FileSystemInfo info) {
    private static final int POSITION = 1024;
    private static final int BYTES = 1024;
    private static final int MAGIC = 0xef53;
    private static final int MAX_LOG_BLOCK_SIZE = 6;
    private static final int MIN_INODE_BYTES = 128;
    private static final int CHECKSUM = 0x3fc;
    private static final int STATE_CLEAN = 1;
    private static final int STATE_ERRORS = 2;

    /** Compatible, incompatible and read-only compatible features. */
    record Features(int compatible, int incompatible, int readOnly) {
        static final int HAS_JOURNAL = 0x4;
        static final int SPARSE_SUPER2 = 0x200;

        static final int FILE_TYPE = 0x2;
        static final int RECOVER = 0x4;
        static final int JOURNAL_DEVICE = 0x8;
        static final int META_GROUPS = 0x10;
        static final int WIDE = 0x80;
        static final int LARGE_DIRECTORIES = 0x4000;

        /** Features that are supported, or do not matter for reading. */
        private static final int READ = FILE_TYPE | RECOVER | META_GROUPS | 0x40 | WIDE | 0x100
                | 0x200 | 0x400 | 0x2000 | LARGE_DIRECTORIES | 0x8000 | 0x10000 | 0x20000;

        static final int SPARSE_SUPER = 0x1;
        static final int CHECKSUMS = 0x400;

        private static final int EXT3_INCOMPATIBLE = FILE_TYPE | RECOVER | META_GROUPS;
        private static final int EXT3_READ_ONLY = SPARSE_SUPER | 0x2 | 0x4;

        boolean isCompatible(int feature) { return (compatible & feature) != 0; }

        boolean isIncompatible(int feature) { return (incompatible & feature) != 0; }

        boolean isReadOnly(int feature) { return (readOnly & feature) != 0; }

        private String type() {
            if ((incompatible & ~EXT3_INCOMPATIBLE) != 0 || (readOnly & ~EXT3_READ_ONLY) != 0) {
                return "ext4";
            }
            return isCompatible(HAS_JOURNAL) ? "ext3" : "ext2";
        }
    }

    static boolean isThere(VolumeReader volume) throws IOException {
        return volume.has(POSITION, BYTES) && u16(volume.read(POSITION, BYTES), 0x38) == MAGIC;
    }

    static ExtSuperblock read(VolumeReader volume) throws IOException {
        byte[] raw = volume.read(POSITION, BYTES);
        boolean dynamic = u32(raw, 0x4c) != 0;
        var features = dynamic
                ? new Features(s32(raw, 0x5c), s32(raw, 0x60), s32(raw, 0x64))
                : new Features(0, 0, 0);
        int unknown = features.incompatible() & ~Features.READ;
        if (features.isIncompatible(Features.JOURNAL_DEVICE)) {
            throw new UnsupportedException(
                    "the volume is the external journal of an ext file system");
        }
        if (unknown != 0) {
            throw new UnsupportedException(String.format(Locale.ROOT,
                    "the ext file system has unsupported features (incompatible %Xh)",
                    unknown));
        }
        long log = u32(raw, 0x18);
        require(log <= MAX_LOG_BLOCK_SIZE, "log of the block size", log);
        int blockSize = 1024 << (int) log;
        boolean wide = features.isIncompatible(Features.WIDE);
        long blockCount = u32(raw, 4) | (wide ? u32(raw, 0x150) << 32 : 0);
        long firstDataBlock = u32(raw, 0x14);
        require(firstDataBlock <= 1, "first data block", firstDataBlock);
        require(blockCount > firstDataBlock && blockCount <= Long.MAX_VALUE / blockSize,
                "number of blocks", blockCount);
        long blocksPerGroup = u32(raw, 0x20);
        require(blocksPerGroup > 0, "blocks per group", blocksPerGroup);
        long inodesPerGroup = u32(raw, 0x28);
        require(inodesPerGroup > 0 && inodesPerGroup <= 8L * blockSize, "inodes per group",
                inodesPerGroup);
        int inodeBytes = dynamic ? u16(raw, 0x58) : MIN_INODE_BYTES;
        require(Integer.bitCount(inodeBytes) == 1 && inodeBytes >= MIN_INODE_BYTES
                && inodeBytes <= blockSize, "inode size", inodeBytes);
        int descriptorBytes = wide ? u16(raw, 0xfe) : 32;
        require(Integer.bitCount(descriptorBytes) == 1 && descriptorBytes >= (wide ? 64 : 32)
                && descriptorBytes <= blockSize, "size of a group descriptor", descriptorBytes);
        var info = new FileSystemInfo(features.type(), Names.field(raw, 0x78, 16),
                uuid(raw, 0x68), blockCount * blockSize, blockSize,
                notices(raw, features, blockCount * blockSize, volume));
        return new ExtSuperblock(blockSize, blockCount, firstDataBlock, blocksPerGroup,
                inodesPerGroup, u32(raw, 0), inodeBytes, descriptorBytes, u32(raw, 0x104), features,
                List.of(u32(raw, 0x24c), u32(raw, 0x250)), info);
    }

    private static void require(boolean holds, String what, long value) throws CorruptException {
        if (!holds) {
            throw new CorruptException("the superblock of the ext file system has an impossible "
                    + what + ", " + value);
        }
    }

    private static List<String> notices(byte[] raw, Features features, long sizeBytes,
            VolumeReader volume) {
        var notices = new ArrayList<String>();
        int state = u16(raw, 0x3a);
        if (features.isIncompatible(Features.RECOVER)) {
            notices.add("The file system was not unmounted, or is mounted right now: its journal"
                    + " contains changes that were not replayed (needs_recovery). It is"
                    + " shown without them.");
        } else if ((state & STATE_CLEAN) == 0) {
            notices.add("The file system was not unmounted cleanly, or is mounted right now.");
        }
        if ((state & STATE_ERRORS) != 0) {
            notices.add("The file system is marked as having errors; check it with e2fsck.");
        }
        if (sizeBytes > volume.sizeBytes()) {
            notices.add("The file system has " + sizeBytes + " bytes, its volume only "
                    + volume.sizeBytes() + ": it is truncated.");
        }
        if (features.isReadOnly(Features.CHECKSUMS) && u32(raw, CHECKSUM) != checksum(raw)) {
            notices.add("The checksum of the superblock is wrong.");
        }
        return notices;
    }

    /** The kernel's CRC32C is not inverted at the end. */
    private static long checksum(byte[] raw) {
        var crc = new CRC32C();
        crc.update(raw, 0, CHECKSUM);
        return ~crc.getValue() & 0xffff_ffffL;
    }

    private static String uuid(byte[] raw, int at) {
        var text = new StringBuilder();
        for (int i = 0; i < 16; i++) {
            text.append(i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "")
                    .append(String.format(Locale.ROOT, "%02x", u8(raw, at + i)));
        }
        return text.toString();
    }

    long groupCount() { return (blockCount - firstDataBlock - 1) / blocksPerGroup + 1; }

    /** Block where the descriptors of a group are, with those of its neighbours. */
    long descriptorBlock(long group) {
        long perBlock = blockSize / descriptorBytes;
        long index = group / perBlock;
        if (!features.isIncompatible(Features.META_GROUPS) || index < firstMetaGroup) {
            return firstDataBlock + 1 + index;
        }
        long first = index * perBlock;
        boolean behindSuper = hasSuperblock(first)
                || (first == 0 && blockSize == 1024 && firstDataBlock == 0);
        return firstDataBlock + first * blocksPerGroup + (behindSuper ? 1 : 0);
    }

    private boolean hasSuperblock(long group) {
        if (group == 0) {
            return true;
        }
        if (features.isCompatible(Features.SPARSE_SUPER2)) {
            return backupGroups.contains(group);
        }
        return group == 1 || !features.isReadOnly(Features.SPARSE_SUPER) || isPower(group, 3)
                || isPower(group, 5) || isPower(group, 7);
    }

    private static boolean isPower(long number, int base) {
        long power = base;
        while (power < number) {
            power *= base;
        }
        return power == number;
    }
}
