package lunar.raid.metadata.page;

import java.lang.foreign.MemorySegment;
import lunar.block.BlockDevice;
import lunar.block.StorageException;

/** Reads and writes of any number of blocks, in as many requests as the device needs. Blocks. */
public final class ChunkedTransfer {
    private ChunkedTransfer() {}

    public static void read(BlockDevice device, long atBytes, MemorySegment buffer)
            throws StorageException {
        long step = stepBytes(device);
        for (long at = 0; at < buffer.byteSize(); at += step) {
            device.read((atBytes + at) / device.blockSize(),
                    buffer.asSlice(at, Math.min(step, buffer.byteSize() - at)));
        }
    }

    public static void write(BlockDevice device, long atBytes, MemorySegment buffer)
            throws StorageException {
        long step = stepBytes(device);
        for (long at = 0; at < buffer.byteSize(); at += step) {
            device.write((atBytes + at) / device.blockSize(),
                    buffer.asSlice(at, Math.min(step, buffer.byteSize() - at)));
        }
    }

    private static long stepBytes(BlockDevice device) {
        return (long) device.limits().maxTransferBlocks() * device.blockSize();
    }
}
