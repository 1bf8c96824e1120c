package lunar.fs;

import static lunar.fs.LittleEndian.u16;
import static lunar.fs.LittleEndian.u32;

import java.io.IOException;
import java.util.Arrays;

/**
 * The extents of a file in ext4 (Linux, Documentation/filesystems/ext4/ifork.rst). The root is in the inode; each level
 * decreases the depth by one, so loops are impossible.
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

    private final FileBlocks file;

    ExtentTree(FileBlocks file) { this.file = file; }

    @Override
    public Run at(long position) throws IOException {
        long logical = position / file.blockSize();
        if (logical >= END) {
            throw file.corrupt("has blocks beyond the last possible one");
        }
        byte[] node = Arrays.copyOfRange(file.inode().raw(), ExtInode.BLOCK_AREA,
                ExtInode.BLOCK_AREA + ExtInode.BLOCK_AREA_BYTES);
        int depth = u16(node, 6);
        if (depth > MAX_DEPTH) {
            throw file.corrupt("has extents " + depth + " levels deep");
        }
        long end = END;
        while (true) {
            int entries = entries(node, depth);
            int found = lastUpTo(node, entries, logical);
            if (found + 1 < entries) {
                end = Math.min(end, first(node, found + 1));
            }
            if (found < 0) {
                return file.hole(logical, end - logical);
            }
            if (depth == 0) {
                return leaf(node, found, logical, end);
            }
            int at = ENTRY_BYTES * (found + 1);
            long block = u32(node, at + 4) | ((long) u16(node, at + 8) << 32);
            node = file.read(block, "extents");
            depth--;
        }
    }

    private int entries(byte[] node, int depth) throws CorruptException {
        int entries = u16(node, 2);
        if (u16(node, 0) != MAGIC || u16(node, 6) != depth
                || entries > node.length / ENTRY_BYTES - 1) {
            throw file.corrupt("has an invalid extent node");
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
            return file.hole(logical, end - logical);
        }
        long blocks = Math.min(last, end) - first;
        if (unwritten) {
            return file.hole(first, blocks);
        }
        long block = u32(node, at + 8) | ((long) u16(node, at + 6) << 32);
        if (!file.has(block, length)) {
            throw file.corrupt("has an extent at block " + block + ", which is not on the volume");
        }
        return file.run(first, blocks, block);
    }
}
