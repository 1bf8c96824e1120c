package lunar.block;

/**
 * Block sizes and block count of a device.
 *
 * @param blockSize bytes of a logical block, 512 or 4096
 * @param blockCount number of logical blocks
 * @param physicalBlockSize bytes of a physical block: a power-of-two multiple of {@code blockSize};
 *        smaller or unaligned writes may cost a read-modify-write
 */
public record Geometry(int blockSize, long blockCount, int physicalBlockSize) {
    public Geometry {
        if (blockSize != 512 && blockSize != 4096) {
            throw new IllegalArgumentException(
                    "block size must be 512 or 4096 bytes, not " + blockSize);
        }
        if (blockCount <= 0 || blockCount > Long.MAX_VALUE / blockSize) {
            throw new IllegalArgumentException("impossible number of blocks: " + blockCount);
        }
        if (physicalBlockSize < blockSize || Integer.bitCount(physicalBlockSize) != 1) {
            throw new IllegalArgumentException(
                    "impossible physical block size: " + physicalBlockSize);
        }
    }

    /** Returns a geometry whose physical blocks are its logical blocks. */
    public static Geometry of(int blockSize, long blockCount) {
        return new Geometry(blockSize, blockCount, blockSize);
    }

    /** Returns the size of the device in bytes. */
    public long sizeBytes() {
        return blockSize * blockCount;
    }
}
