package lunar.fs;

import java.io.IOException;

/**
 * The blocks of a file by logical number, for both kinds of block map in ext.
 *
 * @param inode inode of the file
 */
record FileBlocks(VolumeReader volume, ExtSuperblock superblock, ExtInode inode) {
    int blockSize() { return superblock.blockSize(); }

    Run hole(long logical, long blocks) {
        return Run.hole(logical * blockSize(), blocks * blockSize());
    }

    /**
     * Blocks that lie side by side.
     *
     * @param first the first of them on the volume
     */
    Run run(long logical, long blocks, long first) {
        return new Run(logical * blockSize(), blocks * blockSize(), first * blockSize());
    }

    /** Whether these blocks are on the volume; the first one is no file's. */
    boolean has(long first, long count) {
        return first > 0 && first + count <= superblock.blockCount();
    }

    /**
     * Reads a block of the map.
     *
     * @param what is in it, for the message
     */
    byte[] read(long block, String what) throws IOException {
        if (!has(block, 1)) {
            throw corrupt("has " + what + " in block " + block + ", which is not on the volume");
        }
        return volume.read(block * blockSize(), blockSize());
    }

    CorruptException corrupt(String what) {
        return new CorruptException("inode " + inode.number() + " " + what);
    }
}
