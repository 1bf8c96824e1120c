package lunar.scsi.target.copy;

import java.lang.foreign.MemorySegment;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Capability;
import lunar.block.LostWritesException;
import lunar.block.StorageException;
import lunar.scsi.Sense;
import lunar.scsi.target.StorageSense;

/**
 * Copies data to a logical unit, piece by piece: holes are unmapped if the destination supports it, other data is read
 * and written. Blocks; for one thread and one copy operation.
 */
final class BlockCopy {
    /** Maximum number of bytes zeroed at once; a copy can be stopped between two pieces. */
    private static final long MAX_ZERO_BYTES = 256L << 20;

    /**
     * Checks a condition before each piece, and again after the source has been read or queried for holes and before
     * anything is written: the source may have changed while that blocked.
     */
    @FunctionalInterface
    interface Guard {
        void check() throws CopyException;
    }

    private final CopyService service;
    private final CopyOperation operation;
    private final CopyUnit unit;
    private final CopyWrites.Writer writer;
    private final BlockDevice device;
    private final BlockRequest request = new BlockRequest();
    private final MemorySegment memory;
    private final long pieceBytes;

    /**
     * @param writer registers the writes to the destination
     * @param memory borrowed from the service for the duration of the copy
     */
    BlockCopy(CopyOperation operation, CopyUnit destination, CopyWrites.Writer writer,
            MemorySegment memory) {
        service = destination.copies();
        this.operation = operation;
        this.writer = writer;
        this.memory = memory;
        unit = destination;
        device = destination.device();
        int block = device.blockSize();
        pieceBytes = Math.max(1, Math.min(memory.byteSize() / block,
                device.limits().maxTransferBlocks())) * block;
    }

    /**
     * Copies blocks.
     *
     * @param at offset of the first byte in the source
     * @param backwards whether to copy from the last piece to the first, for a destination that overlaps the source at
     *        higher addresses
     */
    void copy(CopySource source, long at, long lba, long blockCount, boolean backwards, Guard guard)
            throws CopyException {
        int block = device.blockSize();
        long bytes = blockCount * block;
        for (long done = 0; done < bytes;) {
            operation.requireGoingOn();
            Sense obstacle = unit.enter(); // an erasure waits for this piece and stops the next one
            if (obstacle != null) {
                throw new CopyException(obstacle);
            }
            try {
                guard.check();
                done += backwards
                        ? pieceBefore(source, at, lba, bytes - done, guard)
                        : piece(source, at + done, lba + done / block, bytes - done, guard);
            } catch (StorageException e) {
                if (e instanceof LostWritesException) { // reported to the copy's host only as a failure of this copy
                    unit.lostWrites();
                }
                throw new CopyException(StorageSense.of(request.operation(), e)); // of either device
            } finally {
                unit.leave();
            }
        }
    }

    private long piece(CopySource source, long at, long lba, long most, Guard guard)
            throws StorageException, CopyException {
        int block = device.blockSize();
        CopySource.Run run = source.run(at, most);
        if (run.zeroes() && run.bytes() >= block) {
            guard.check();
            return zero(lba, Math.min(run.bytes() / block * block, maxZeroBytes()));
        }
        // Up to the start of a hole, in whole blocks of the destination.
        long wanted = run.zeroes() ? block : (run.bytes() + block - 1) / block * block;
        long bytes = Math.min(Math.min(wanted, pieceBytes), most);
        move(source, at, lba, bytes, guard);
        return bytes;
    }

    /** Returns the length of the last piece before an end. */
    private long pieceBefore(CopySource source, long at, long lba, long left, Guard guard)
            throws StorageException, CopyException {
        long bytes = Math.min(pieceBytes, left);
        long from = left - bytes;
        CopySource.Run run = source.run(at + from, bytes);
        long to = lba + from / device.blockSize();
        if (run.zeroes() && run.bytes() == bytes && bytes <= maxZeroBytes()) {
            guard.check();
            return zero(to, bytes);
        }
        move(source, at + from, to, bytes, guard);
        return bytes;
    }

    /** Whether blocks are zeroed by unmapping. */
    private boolean unmaps() {
        return device.supports(Capability.UNMAP_ZEROES) && !unit.isThick();
    }

    /** Returns the maximum number of bytes that {@link #zero} zeroes at once. */
    private long maxZeroBytes() {
        long blocks = unmaps()
                ? device.limits().maxUnmapBlocks()
                : device.supports(Capability.WRITE_ZEROES)
                        ? device.limits().maxWriteZeroesBlocks()
                        : pieceBytes / device.blockSize();
        return Math.min(blocks, MAX_ZERO_BYTES / device.blockSize()) * device.blockSize();
    }

    private void move(CopySource source, long at, long lba, long bytes, Guard guard)
            throws StorageException, CopyException {
        MemorySegment piece = memory.asSlice(0, bytes);
        source.read(request, at, piece);
        guard.check();
        write(lba, piece);
    }

    private void write(long lba, MemorySegment piece) throws StorageException, CopyException {
        long count = piece.byteSize() / device.blockSize();
        service.tokens().written(unit.store(), lba, count);
        writer.execute(request.asWrite(lba, count, piece, false));
        operation.copied(piece.byteSize());
    }

    /** Zeroes blocks in the way that uses the least space. */
    private long zero(long lba, long bytes) throws StorageException, CopyException {
        boolean unmaps = unmaps();
        if (!unmaps && !device.supports(Capability.WRITE_ZEROES)) {
            write(lba, memory.asSlice(0, bytes).fill((byte) 0));
            return bytes;
        }
        long count = bytes / device.blockSize();
        service.tokens().written(unit.store(), lba, count);
        writer.execute(unmaps
                ? request.asUnmap(lba, count)
                : request.asWriteZeroes(lba, count, false));
        operation.copied(bytes);
        return bytes;
    }
}
