package lunar.fs;

import static lunar.fs.LittleEndian.u16;
import static lunar.fs.LittleEndian.u32;

import java.io.IOException;
import java.util.Arrays;

/**
 * The extents of a file in ext4 (Linux, Documentation/filesystems/ext4/ifork.rst). The root is in the inode; each step
 * down lowers the depth by one, so a loop cannot be.
 *
 * <pre>
 * header   0 F30Ah         2 entries   4 room    6 depth
 * extent   0 first block   4 length, above 32768 unwritten       6 where, high   8 where, low
 * index    0 first block   4 node, low                           8 node, high
 * </pre>
 */
final class ExtentTree implements RunMap {
    private static final int MAGIC = 0xf30a;
    private static final int ENTRY_BYTES = 12;
    private static final int MAX_DEPTH = 5;
    private static final int MAX_WRITTEN = 32768;
    private static final long END = 1L << 32;

    private final VolumeReader volume;
    private final ExtSuperblock superblock;
    private final ExtInode inode;

    ExtentTree(VolumeReader volume, ExtSuperblock superblock, ExtInode inode) {
        this.volume = volume;
        this.superblock = superblock;
        this.inode = inode;
    }

    @Override
    public Run at(long position) throws IOException {
        int blockSize = superblock.blockSize();
        long logical = position / blockSize;
        if (logical >= END) {
            throw corrupt("has blocks behind the last possible one");
        }
        byte[] node = Arrays.copyOfRange(inode.raw(), ExtInode.BLOCK_AREA,
                ExtInode.BLOCK_AREA + ExtInode.BLOCK_AREA_BYTES);
        int depth = u16(node, 6);
        if (depth > MAX_DEPTH) {
            throw corrupt("has extents " + depth + " levels deep");
        }
        long end = END;
        while (true) {
            int entries = entries(node, depth);
            int found = lastUpTo(node, entries, logical);
            if (found + 1 < entries) {
                end = Math.min(end, first(node, found + 1));
            }
            if (found < 0) {
                return hole(logical, end);
            }
            if (depth == 0) {
                return leaf(node, found, logical, end);
            }
            int at = ENTRY_BYTES * (found + 1);
            long block = u32(node, at + 4) | ((long) u16(node, at + 8) << 32);
            node = block(block);
            depth--;
        }
    }

    private int entries(byte[] node, int depth) throws CorruptException {
        int entries = u16(node, 2);
        if (u16(node, 0) != MAGIC || u16(node, 6) != depth
                || entries > node.length / ENTRY_BYTES - 1) {
            throw corrupt("has a node of extents that is none");
        }
        return entries;
    }

    private static int lastUpTo(byte[] node, int entries, long logical) {
        int found = -1;
        while (found + 1 < entries && first(node, found + 1) <= logical) {
            found++;
        }
        return found;
    }

    private static long first(byte[] node, int index) {
        return u32(node, ENTRY_BYTES * (index + 1));
    }

    private Run leaf(byte[] node, int found, long logical, long end) throws CorruptException {
        int at = ENTRY_BYTES * (found + 1);
        long first = u32(node, at);
        int length = u16(node, at + 4);
        boolean unwritten = length > MAX_WRITTEN;
        long last = first + (unwritten ? length - MAX_WRITTEN : length);
        if (logical >= last) {
            return hole(logical, end);
        }
        long bytes = (Math.min(last, end) - first) * superblock.blockSize();
        if (unwritten) {
            return Run.hole(first * superblock.blockSize(), bytes);
        }
        long block = u32(node, at + 8) | ((long) u16(node, at + 6) << 32);
        if (block <= 0 || block + length > superblock.blockCount()) {
            throw corrupt("has an extent at block " + block + ", which is not on the volume");
        }
        return new Run(first * superblock.blockSize(), bytes, block * superblock.blockSize());
    }

    private Run hole(long logical, long end) {
        return Run.hole(logical * superblock.blockSize(),
                (end - logical) * superblock.blockSize());
    }

    private byte[] block(long block) throws IOException {
        if (block <= 0 || block >= superblock.blockCount()) {
            throw corrupt("has extents in block " + block + ", which is not on the volume");
        }
        return volume.read(block * superblock.blockSize(), superblock.blockSize());
    }

    private CorruptException corrupt(String what) {
        return new CorruptException("inode " + inode.number() + " " + what);
    }
}
