package lunar.cli.copy;

import lunar.cli.command.Failure;

import java.util.function.LongConsumer;
import lunar.block.BlockDevice;
import lunar.block.StorageException;

/** Compares two devices and finds the first difference. The second may be longer. */
public final class DeviceComparison extends ChunkQueue {
    private static final int READING_FIRST = 0;
    private static final int READING_SECOND = 1;

    private final BlockDevice first;
    private final BlockDevice second;
    private final LongConsumer progress;

    private long nextBytes;
    private long doneBytes;

    public DeviceComparison(BlockDevice first, BlockDevice second, int depth, int chunkBytes,
            LongConsumer progress) {
        super(depth, chunkBytes, 2);
        this.first = first;
        this.second = second;
        this.progress = progress;
    }

    @Override
    boolean begin(Slot slot) throws StorageException {
        skipHoles();
        if (nextBytes >= first.sizeBytes()) {
            return false;
        }
        slot.offsetBytes = nextBytes;
        slot.lengthBytes = Math.min(chunkBytes(), first.sizeBytes() - nextBytes);
        nextBytes += slot.lengthBytes;
        slot.stage = READING_FIRST;
        submit(first, slot, slot.request.asRead(slot.offsetBytes / first.blockSize(),
                slot.lengthBytes / first.blockSize(), slot.part(slot.first)));
        return true;
    }

    /** Where both have holes both are zero. */
    private void skipHoles() throws StorageException {
        while (nextBytes < first.sizeBytes()) {
            long common = Math.min(holeBytes(first), holeBytes(second));
            long whole = common - common % chunkBytes();
            if (whole == 0) {
                return;
            }
            nextBytes += whole;
            done(whole);
        }
    }

    private long holeBytes(BlockDevice device) throws StorageException {
        var extent = device.extent(nextBytes / device.blockSize());
        return extent.allocated() ? 0 : extent.blockCount() * device.blockSize();
    }

    @Override
    boolean proceed(Slot slot) throws Failure {
        if (slot.stage == READING_FIRST) {
            slot.stage = READING_SECOND;
            submit(second, slot, slot.request.asRead(slot.offsetBytes / second.blockSize(),
                    slot.lengthBytes / second.blockSize(), slot.part(slot.second)));
            return true;
        }
        long at = slot.part(slot.first).mismatch(slot.part(slot.second));
        if (at >= 0) {
            throw new Failure("the copy differs from the source at byte "
                    + (slot.offsetBytes + at) + "; make sure that nothing else writes to them");
        }
        done(slot.lengthBytes);
        return false;
    }

    private void done(long bytes) {
        doneBytes += bytes;
        progress.accept(doneBytes);
    }
}
