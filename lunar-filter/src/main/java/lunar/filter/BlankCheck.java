package lunar.filter;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import lunar.block.BlockDevice;
import lunar.block.Extent;
import lunar.block.StorageException;

/**
 * Checks whether a device contains data, at the start of its extents only, because checking every block could take
 * hours.
 */
final class BlankCheck {
    private static final int SAMPLE_BYTES = 1 << 20;
    private static final int MAX_SAMPLES = 64;

    private final BlockDevice device;
    private final long sampleBlocks;
    private final MemorySegment room;
    private final MemorySegment zeroes;

    private BlankCheck(BlockDevice device) {
        this.device = device;
        sampleBlocks = Math.min(device.blockCount(), Math.min(device.limits().maxTransferBlocks(),
                SAMPLE_BYTES / device.blockSize()));
        room = Arena.ofAuto().allocate(sampleBlocks * device.blockSize(), 4096);
        zeroes = MemorySegment.ofArray(new byte[(int) room.byteSize()]);
    }

    /**
     * Whether the beginnings of the first extents that hold data, and the end of the device, read as zeroes.
     *
     * @throws StorageException if the device cannot be read
     */
    static boolean isBlank(BlockDevice device) throws StorageException {
        return new BlankCheck(device).isBlank();
    }

    private boolean isBlank() throws StorageException {
        long blocks = device.blockCount();
        int samples = 0;
        for (long lba = 0; lba < blocks && samples < MAX_SAMPLES;) {
            Extent extent = device.extent(lba);
            if (extent.allocated()) {
                samples++;
                if (!isZero(lba)) {
                    return false;
                }
            }
            lba = extent.lba() + extent.blockCount();
        }
        return isZero(blocks - sampleBlocks);
    }

    private boolean isZero(long lba) throws StorageException {
        long bytes = Math.min(sampleBlocks, device.blockCount() - lba) * device.blockSize();
        MemorySegment sample = room.asSlice(0, bytes);
        device.read(lba, sample);
        return sample.mismatch(zeroes.asSlice(0, bytes)) < 0;
    }
}
