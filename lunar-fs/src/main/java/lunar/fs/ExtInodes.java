package lunar.fs;

import static lunar.fs.LittleEndian.u32;

import java.io.IOException;

/** Locates inodes by number, through the group descriptors. */
final class ExtInodes {
    private static final int TABLE_LOW = 0x08;
    private static final int TABLE_HIGH = 0x28;
    private static final int WIDE_DESCRIPTOR_BYTES = 64;

    private final VolumeReader volume;
    private final ExtSuperblock superblock;

    ExtInodes(VolumeReader volume, ExtSuperblock superblock) {
        this.volume = volume;
        this.superblock = superblock;
    }

    ExtInode read(long number) throws IOException {
        if (number < 1 || number > superblock.inodeCount()) {
            throw new CorruptException(
                    "inode " + number + " does not exist; there are " + superblock.inodeCount());
        }
        long group = (number - 1) / superblock.inodesPerGroup();
        if (group >= superblock.groupCount()) {
            throw new CorruptException("inode " + number + " is in no group");
        }
        long index = (number - 1) % superblock.inodesPerGroup();
        long table = table(group);
        if (table <= 0 || table >= superblock.blockCount()) {
            throw new CorruptException("the inodes of group " + group + " are in block " + table
                    + " of " + superblock.blockCount());
        }
        byte[] raw = volume.read(
                table * superblock.blockSize() + index * superblock.inodeBytes(),
                superblock.inodeBytes());
        return new ExtInode(number, raw, superblock.features()
                .isIncompatible(ExtSuperblock.Features.LARGE_DIRECTORIES));
    }

    private long table(long group) throws IOException {
        int bytes = superblock.descriptorBytes();
        long within = group % (superblock.blockSize() / bytes) * bytes;
        byte[] descriptor = volume.read(
                superblock.descriptorBlock(group) * superblock.blockSize() + within, bytes);
        long high = bytes >= WIDE_DESCRIPTOR_BYTES ? u32(descriptor, TABLE_HIGH) << 32 : 0;
        return u32(descriptor, TABLE_LOW) | high;
    }
}
