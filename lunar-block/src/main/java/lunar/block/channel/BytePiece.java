package lunar.block.channel;

import java.util.ArrayList;
import java.util.List;
import lunar.block.BlockDevice;

/**
 * The part of a transfer of bytes that one request does: some bytes of a run of blocks.
 *
 * @param lba first block
 * @param blockCount blocks that the request touches
 * @param skip bytes of the first block before the part
 * @param length bytes of the part
 * @param offset where the part begins in the transfer's buffer
 */
record BytePiece(long lba, int blockCount, int skip, int length, int offset) {
    /** Whether the part is all of its blocks, so that the transfer's own buffer serves the request. */
    boolean isWhole(int blockSize) {
        return length == (long) blockCount * blockSize;
    }

    /**
     * Cuts a transfer. What is in whole blocks goes without a copy, in requests as long as the device takes; what
     * is not, and covers no more than {@code copyBytes}, goes in one request; else the ends are requests of their own.
     *
     * @param length at least 1
     */
    static List<BytePiece> cut(long position, int length, BlockDevice device, int copyBytes) {
        int blockSize = device.blockSize();
        int longest = Math.max(1,
                Math.min(device.limits().maxTransferBlocks(), Integer.MAX_VALUE / blockSize));
        long lba = position / blockSize;
        int skip = (int) (position % blockSize);
        long covered = (skip + (long) length + blockSize - 1) / blockSize;
        boolean whole = skip == 0 && length % blockSize == 0;
        if (!whole && covered <= longest && covered * blockSize <= copyBytes) {
            return List.of(new BytePiece(lba, (int) covered, skip, length, 0));
        }
        var pieces = new ArrayList<BytePiece>();
        int done = 0;
        if (skip > 0) {
            done = Math.min(length, blockSize - skip);
            pieces.add(new BytePiece(lba++, 1, skip, done, 0));
        }
        while (length - done >= blockSize) {
            int count = Math.min(longest, (length - done) / blockSize);
            pieces.add(new BytePiece(lba, count, 0, count * blockSize, done));
            lba += count;
            done += count * blockSize;
        }
        if (done < length) {
            pieces.add(new BytePiece(lba, 1, 0, length - done, done));
        }
        return pieces;
    }
}
