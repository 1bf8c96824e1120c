package lunar.block.channel;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.AsynchronousCloseException;
import java.util.List;
import java.util.function.BooleanSupplier;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BusyException;
import lunar.block.OutOfRangeException;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/**
 * Access to the bytes of a device, at any position and of any length; shared by the views of one channel. A part of a
 * block is written by reading the block, changing it and writing it back, while no other write through this object
 * holds the block.
 */
final class ByteAccess {
    /** Receives the result of a queued transfer; must neither block nor throw. */
    @FunctionalInterface
    interface Ending {
        /** @param failure null if the transfer succeeded */
        void ended(@Nullable IOException failure);
    }

    /** Longest read of parts of blocks that is one request with a copy, rather than up to three requests without. */
    static final int READ_COPY_BYTES = 64 << 10;

    /** Like {@link #READ_COPY_BYTES}, but for a write, which reads as much first. */
    static final int WRITE_COPY_BYTES = 16 << 10;

    private final BlockDevice device;
    private final WriteRanges ranges = new WriteRanges();
    private final RequestWindow window;

    ByteAccess(BlockDevice device) {
        this.device = device;
        this.window = new RequestWindow(device);
    }

    BlockDevice device() { return device; }

    WriteRanges ranges() { return ranges; }

    RequestWindow window() { return window; }

    /**
     * Returns the number of bytes of a transfer that are on the device: all, fewer at its end, or 0 beyond it.
     *
     * @param position at least 0
     */
    int within(long position, int length) {
        return (int) Math.max(0, Math.min(length, device.sizeBytes() - position));
    }

    /** Returns the number of bytes of a write that fit on the device; 0 only if there is nothing to write. */
    int room(long position, int length) throws OutOfRangeException {
        int count = within(position, length);
        if (count == 0 && length > 0) {
            throw new OutOfRangeException("write at byte " + position + ": the device ends at "
                    + device.sizeBytes());
        }
        return count;
    }

    // --- on the calling thread ---

    /** Fills a buffer, which is not empty. {@code open} is asked before each request and at the end. */
    void read(long position, MemorySegment buffer, BooleanSupplier open) throws IOException {
        for (BytePiece piece : BytePiece.cut(position, (int) buffer.byteSize(), device,
                READ_COPY_BYTES)) {
            requireOpen(open);
            MemorySegment part = buffer.asSlice(piece.offset(), piece.length());
            if (piece.isWhole(device.blockSize())) {
                device.execute(new BlockRequest().asRead(piece.lba(), piece.blockCount(), part));
            } else {
                MemorySegment blocks = read(piece.lba(), piece.blockCount());
                part.copyFrom(blocks.asSlice(piece.skip(), piece.length()));
            }
        }
        requireOpen(open);
    }

    /** Writes a buffer, which is not empty. {@code open} is asked before each request and at the end. */
    void write(long position, MemorySegment buffer, boolean fua, BooleanSupplier open)
            throws IOException {
        List<BytePiece> pieces = BytePiece.cut(position, (int) buffer.byteSize(), device,
                WRITE_COPY_BYTES);
        BytePiece last = pieces.getLast();
        WriteRanges.Range range = ranges.acquireNow(pieces.getFirst().lba(),
                last.lba() + last.blockCount());
        try {
            for (BytePiece piece : pieces) {
                requireOpen(open);
                MemorySegment part = buffer.asSlice(piece.offset(), piece.length());
                MemorySegment blocks = part;
                if (!piece.isWhole(device.blockSize())) {
                    blocks = read(piece.lba(), piece.blockCount());
                    blocks.asSlice(piece.skip(), piece.length()).copyFrom(part);
                    requireOpen(open);
                }
                device.execute(new BlockRequest().asWrite(piece.lba(), piece.blockCount(), blocks,
                        fua));
            }
        } finally {
            ranges.release(range);
        }
        requireOpen(open);
    }

    private MemorySegment read(long lba, int blockCount) throws StorageException {
        MemorySegment blocks = blocks(blockCount);
        device.execute(new BlockRequest().asRead(lba, blockCount, blocks));
        return blocks;
    }

    private static void requireOpen(BooleanSupplier open) throws AsynchronousCloseException {
        if (!open.getAsBoolean()) {
            throw new AsynchronousCloseException();
        }
    }

    /** Allocates memory for a copy of blocks. */
    MemorySegment blocks(int blockCount) {
        return MemorySegment.ofArray(new byte[blockCount * device.blockSize()]);
    }

    // --- queued ---

    /** Queues a {@link #read}. The buffer belongs to the transfer until it completes. */
    void submitRead(long position, MemorySegment buffer, BooleanSupplier open, Ending ending) {
        if (hasRoom(position, ending)) {
            new ByteTransfer(this, buffer, BytePiece.cut(position, (int) buffer.byteSize(), device,
                    READ_COPY_BYTES), open, ending).read();
        }
    }

    /** Queues a {@link #write}. The buffer belongs to the transfer until it completes. */
    void submitWrite(long position, MemorySegment buffer, boolean fua, BooleanSupplier open,
            Ending ending) {
        if (hasRoom(position, ending)) {
            new ByteTransfer(this, buffer, BytePiece.cut(position, (int) buffer.byteSize(), device,
                    WRITE_COPY_BYTES), open, ending).write(fua);
        }
    }

    private boolean hasRoom(long position, Ending ending) {
        if (window.isFull()) {
            ending.ended(new BusyException("transfer at byte " + position + ": "
                    + RequestWindow.MAX_WAITING + " requests wait already"));
            return false;
        }
        return true;
    }
}
