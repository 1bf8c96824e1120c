package lunar.cli.copy;

import java.lang.foreign.MemorySegment;
import java.util.function.LongConsumer;
import lunar.block.BlockDevice;
import lunar.block.Capability;
import lunar.block.Extent;
import lunar.block.StorageException;

/**
 * Copies a device to another. Holes and zeroes of the source are not transferred: they are skipped if the destination
 * is known to be zero, and otherwise zeroed without data if it supports that.
 */
public final class DeviceCopy extends ChunkQueue {
    private static final int READING = 0;
    private static final int WRITING = 1;

    private final BlockDevice source;
    private final BlockDevice destination;
    private final boolean sparse;
    private final boolean destinationIsZero;
    private final LongConsumer progress;
    private final MemorySegment zeroes;

    private long nextBytes;
    private long extentEndBytes;
    private boolean inHole;
    private long doneBytes;
    private long zeroBytes;

    /**
     * @param sparse whether to detect holes and zeroes
     * @param destinationIsZero whether nothing was ever written to the destination
     * @param progress receives the number of bytes done
     */
    public DeviceCopy(BlockDevice source, BlockDevice destination, int depth, int chunkBytes,
            boolean sparse, boolean destinationIsZero, LongConsumer progress) {
        super(depth, chunkBytes, 1);
        this.source = source;
        this.destination = destination;
        this.sparse = sparse;
        this.destinationIsZero = destinationIsZero;
        this.progress = progress;
        zeroes = MemorySegment.ofArray(new byte[chunkBytes]);
    }

    /** Bytes that were holes or zeroes. */
    public long zeroBytes() { return zeroBytes; }

    @Override
    boolean begin(Slot slot) throws StorageException {
        while (nextBytes < source.sizeBytes()) {
            // Chunks end at multiples of their size.
            long end = Math.min(source.sizeBytes(),
                    nextBytes - nextBytes % chunkBytes() + chunkBytes());
            boolean hole = sparse && isHole(nextBytes, end);
            slot.offsetBytes = nextBytes;
            slot.lengthBytes = end - nextBytes;
            nextBytes += slot.lengthBytes;
            if (!hole) {
                slot.stage = READING;
                submit(source, slot, slot.request.asRead(block(source, slot.offsetBytes),
                        block(source, slot.lengthBytes), slot.part(slot.first)));
                return true;
            }
            if (writeZeroes(slot)) {
                return true;
            }
        }
        return false;
    }

    /** Whether a range is all in one hole; holes smaller than a chunk are read, and found to be zeroes, with it. */
    private boolean isHole(long fromBytes, long endBytes) throws StorageException {
        if (fromBytes >= extentEndBytes) {
            Extent extent = source.extent(block(source, fromBytes));
            extentEndBytes = (extent.lba() + extent.blockCount()) * source.blockSize();
            inHole = !extent.allocated();
        }
        return inHole && endBytes <= extentEndBytes;
    }

    @Override
    boolean proceed(Slot slot) {
        if (slot.stage == WRITING) {
            done(slot);
            return false;
        }
        MemorySegment data = slot.part(slot.first);
        if (sparse && data.mismatch(zeroes.asSlice(0, slot.lengthBytes)) < 0) {
            return writeZeroes(slot);
        }
        return write(slot, data);
    }

    private boolean write(Slot slot, MemorySegment data) {
        slot.stage = WRITING;
        submit(destination, slot, slot.request.asWrite(block(destination, slot.offsetBytes),
                block(destination, slot.lengthBytes), data, false));
        return true;
    }

    /** Makes a chunk zero on the destination; false if it is zero already, and the chunk is done. */
    private boolean writeZeroes(Slot slot) {
        zeroBytes += slot.lengthBytes;
        if (destinationIsZero) {
            done(slot);
            return false;
        }
        long lba = block(destination, slot.offsetBytes);
        long blocks = block(destination, slot.lengthBytes);
        if (destination.supports(Capability.WRITE_ZEROES)
                && blocks <= destination.limits().maxWriteZeroesBlocks()) {
            slot.stage = WRITING;
            submit(destination, slot, slot.request.asWriteZeroes(lba, blocks, false));
            return true;
        }
        if (destination.supports(Capability.UNMAP_ZEROES)
                && blocks <= destination.limits().maxUnmapBlocks()) {
            slot.stage = WRITING;
            submit(destination, slot, slot.request.asUnmap(lba, blocks));
            return true;
        }
        MemorySegment data = slot.part(slot.first);
        data.fill((byte) 0);
        return write(slot, data);
    }

    private void done(Slot slot) {
        doneBytes += slot.lengthBytes;
        progress.accept(doneBytes);
    }

    private static long block(BlockDevice device, long bytes) { return bytes / device.blockSize(); }
}
