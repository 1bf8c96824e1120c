package lunar.fs;

import static lunar.fs.LittleEndian.u32;

import java.io.IOException;

/**
 * The block map of a file in ext2 and ext3: twelve blocks, then one that lists blocks, one that lists lists, and one
 * that lists lists of lists. A zero is a hole, as large as what would be below it.
 */
final class BlockPointers implements RunMap {
    private static final int DIRECT = 12;
    private static final int LEVELS = 3;
    private static final int POINTER_BYTES = 4;

    private final VolumeReader volume;
    private final ExtSuperblock superblock;
    private final ExtInode inode;

    BlockPointers(VolumeReader volume, ExtSuperblock superblock, ExtInode inode) {
        this.volume = volume;
        this.superblock = superblock;
        this.inode = inode;
    }

    @Override
    public Run at(long position) throws IOException {
        long logical = position / superblock.blockSize();
        if (logical < DIRECT) {
            return run(inode.raw(), ExtInode.BLOCK_AREA, DIRECT, (int) logical, logical);
        }
        int perBlock = superblock.blockSize() / POINTER_BYTES;
        long within = logical - DIRECT;
        long span = perBlock;
        int level = 1;
        while (within >= span) {
            within -= span;
            span *= perBlock;
            if (++level > LEVELS) {
                throw corrupt("has blocks behind the last possible one");
            }
        }
        long pointer = u32(inode.raw(),
                ExtInode.BLOCK_AREA + POINTER_BYTES * (DIRECT + level - 1));
        while (pointer != 0) {
            byte[] list = block(pointer);
            span /= perBlock; // blocks of the file below each pointer of the list
            int index = (int) (within / span);
            within %= span;
            if (span == 1) {
                return run(list, 0, perBlock, index, logical);
            }
            pointer = u32(list, POINTER_BYTES * index);
        }
        return hole(logical, span - within);
    }

    /** As many blocks as lie side by side, or are holes, from one pointer of a list on. */
    private Run run(byte[] list, int at, int pointers, int index, long logical)
            throws CorruptException {
        long first = u32(list, at + POINTER_BYTES * index);
        int count = 1;
        while (index + count < pointers && u32(list,
                at + POINTER_BYTES * (index + count)) == (first == 0 ? 0 : first + count)) {
            count++;
        }
        if (first == 0) {
            return hole(logical, count);
        }
        if (first + count > superblock.blockCount()) {
            throw corrupt("has block " + first + ", which is not on the volume");
        }
        return new Run(logical * superblock.blockSize(), (long) count * superblock.blockSize(),
                first * superblock.blockSize());
    }

    private Run hole(long logical, long blocks) {
        return Run.hole(logical * superblock.blockSize(), blocks * superblock.blockSize());
    }

    private byte[] block(long block) throws IOException {
        if (block >= superblock.blockCount()) {
            throw corrupt("has its map in block " + block + ", which is not on the volume");
        }
        return volume.read(block * superblock.blockSize(), superblock.blockSize());
    }

    private CorruptException corrupt(String what) {
        return new CorruptException("inode " + inode.number() + " " + what);
    }
}
