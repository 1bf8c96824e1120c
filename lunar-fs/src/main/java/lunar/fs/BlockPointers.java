package lunar.fs;

import static lunar.fs.LittleEndian.u32;

import java.io.IOException;

/**
 * The block map of a file in ext2 and ext3: twelve direct blocks, then a single, a double and a triple indirect block.
 * A zero pointer is a hole of the size that it would cover.
 */
final class BlockPointers implements RunMap {
    private static final int DIRECT = 12;
    private static final int LEVELS = 3;
    private static final int POINTER_BYTES = 4;

    private final FileBlocks file;

    BlockPointers(FileBlocks file) { this.file = file; }

    @Override
    public Run at(long position) throws IOException {
        long logical = position / file.blockSize();
        byte[] inode = file.inode().raw();
        if (logical < DIRECT) {
            return run(inode, ExtInode.BLOCK_AREA, DIRECT, (int) logical, logical);
        }
        int perBlock = file.blockSize() / POINTER_BYTES;
        long within = logical - DIRECT;
        long span = perBlock;
        int level = 1;
        while (within >= span) {
            within -= span;
            span *= perBlock;
            if (++level > LEVELS) {
                throw file.corrupt("has blocks beyond the last possible one");
            }
        }
        long pointer = u32(inode, ExtInode.BLOCK_AREA + POINTER_BYTES * (DIRECT + level - 1));
        while (pointer != 0) {
            byte[] list = file.read(pointer, "its map");
            span /= perBlock; // blocks of the file below each pointer of the list
            int index = (int) (within / span);
            within %= span;
            if (span == 1) {
                return run(list, 0, perBlock, index, logical);
            }
            pointer = u32(list, POINTER_BYTES * index);
        }
        return file.hole(logical, span - within);
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
            return file.hole(logical, count);
        }
        if (!file.has(first, count)) {
            throw file.corrupt("has block " + first + ", which is not on the volume");
        }
        return file.run(logical, count, first);
    }
}
