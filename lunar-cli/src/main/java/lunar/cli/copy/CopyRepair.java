package lunar.cli.copy;

import java.lang.foreign.MemorySegment;
import lunar.block.BlockDevice;
import lunar.block.StorageException;

/** Compares a copy with its source, piece by piece, and rewrites differing parts. */
final class CopyRepair {
    private CopyRepair() {}

    /** Repairs a copy. The destination's content must be stable before: blocks that are equal are not written again. */
    static void run(BlockDevice source, BlockDevice destination, int chunkBytes)
            throws StorageException {
        MemorySegment wanted = MemorySegment.ofArray(new byte[chunkBytes]);
        MemorySegment there = MemorySegment.ofArray(new byte[chunkBytes]);
        for (long at = 0; at < source.sizeBytes(); at += chunkBytes) {
            long length = Math.min(chunkBytes, source.sizeBytes() - at);
            MemorySegment some = wanted.asSlice(0, length);
            source.read(at / source.blockSize(), some);
            destination.read(at / destination.blockSize(), there.asSlice(0, length));
            if (some.mismatch(there.asSlice(0, length)) >= 0) {
                destination.write(at / destination.blockSize(), some);
            }
        }
    }
}
