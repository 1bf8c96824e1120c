package lunar.raid.metadata.page;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.block.BlockDevice;
import lunar.block.MediumException;
import lunar.block.StorageException;

/**
 * Reads a range of a device of which some blocks may be unreadable: bisects it down to single physical blocks. Blocks.
 */
public final class PartialRead {
    /**
     * Reads of a range that may fail before a piece is not divided any more, since a disk may take seconds for each: it
     * counts as unreadable as a whole then.
     */
    static final int MAX_FAILURES = 64;

    /**
     * Adjacent blocks that cannot be read.
     *
     * @param from the first, counted from the start of the range
     * @param blocks how many
     */
    public record Unreadable(int from, int blocks) {}

    private final BlockDevice device;
    private final long atBytes;
    private final MemorySegment buffer;
    private final int grain;
    private final List<Unreadable> unreadable = new ArrayList<>();
    private int failures;

    private PartialRead(BlockDevice device, long atBytes, MemorySegment buffer) {
        this.device = device;
        this.atBytes = atBytes;
        this.buffer = buffer;
        grain = device.geometry().physicalBlockSize() / device.blockSize();
    }

    /**
     * Reads what can be read into a buffer, which has zeroes for the rest.
     *
     * @param atBytes where the range begins, at a physical block
     * @return what cannot be read, in ascending order, adjacent blocks merged
     * @throws StorageException where something else is wrong with the device than its medium
     */
    public static List<Unreadable> read(BlockDevice device, long atBytes, MemorySegment buffer)
            throws StorageException {
        var read = new PartialRead(device, atBytes, buffer);
        read.read(0, (int) (buffer.byteSize() / device.blockSize()));
        return read.unreadable;
    }

    private void read(int from, int blocks) throws StorageException {
        long at = (long) from * device.blockSize();
        MemorySegment piece = buffer.asSlice(at, (long) blocks * device.blockSize());
        try {
            ChunkedTransfer.read(device, atBytes + at, piece);
        } catch (MediumException _) {
            failures++;
            if (blocks <= grain || failures > MAX_FAILURES) {
                piece.fill((byte) 0);
                add(from, blocks);
            } else {
                int half = Math.ceilDiv(blocks / 2, grain) * grain;
                read(from, half);
                read(from + half, blocks - half);
            }
        }
    }

    private void add(int from, int blocks) {
        Unreadable last = unreadable.isEmpty() ? null : unreadable.getLast();
        if (last != null && last.from() + last.blocks() == from) {
            unreadable.set(unreadable.size() - 1,
                    new Unreadable(last.from(), last.blocks() + blocks));
        } else {
            unreadable.add(new Unreadable(from, blocks));
        }
    }
}
