package lunar.scsi.target.block;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import lunar.block.BlockDevice;
import lunar.block.Capability;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.scsi.Bytes;
import lunar.scsi.block.SanitizeOverwrite;

/** Overwrites a whole device. Blocks. */
final class Eraser {
    private static final int PIECE_BYTES = 1 << 20;
    private static final long ZERO_BYTES = 1L << 30;

    private final BlockDevice device;
    private final LongOperation operation;

    /** @param operation receives the progress */
    Eraser(BlockDevice device, LongOperation operation) {
        this.device = device;
        this.operation = operation;
    }

    /**
     * Erases; all is stable when it returns.
     *
     * @throws StorageException when a part cannot be erased, or the operation has been stopped
     */
    void run(Erasure erasure) throws StorageException {
        operation.requireGoingOn();
        switch (erasure.kind()) {
            case FORMAT, BLOCK_ERASE -> zero();
            case CRYPTOGRAPHIC_ERASE -> {
                device.eraseKey();
                zero();
            }
            case OVERWRITE -> overwrite(erasure.overwrite().orElseThrow());
        }
        device.flush();
    }

    private void zero() throws StorageException {
        boolean unmaps = device.supports(Capability.UNMAP_ZEROES);
        if (!unmaps && !device.supports(Capability.WRITE_ZEROES)) {
            write(new byte[device.blockSize()], 0, 1);
            return;
        }
        long most = unmaps
                ? device.limits().maxUnmapBlocks()
                : device.limits().maxWriteZeroesBlocks();
        long piece = Math.clamp(ZERO_BYTES / device.blockSize(), 1, most);
        long blocks = device.blockCount();
        for (long lba = 0; lba < blocks; lba += piece) {
            long count = Math.min(piece, blocks - lba);
            operation.requireGoingOn();
            if (unmaps) {
                device.unmap(lba, count);
            } else {
                device.writeZeroes(lba, count);
            }
            operation.progress(lba + count, blocks);
        }
    }

    /**
     * Overwrites in several passes. The last pass writes the pattern itself; with INVERT, every other pass before it
     * writes the inverted pattern.
     */
    private void overwrite(SanitizeOverwrite list) throws StorageException {
        Bytes pattern = list.pattern();
        byte[] block = new byte[device.blockSize()];
        for (int pass = 0; pass < list.count(); pass++) {
            boolean inverted = list.invert() && (list.count() - 1 - pass) % 2 == 1;
            for (int i = 0; i < block.length; i++) {
                int value = pattern.at(i % pattern.length());
                block[i] = (byte) (inverted ? ~value : value);
            }
            write(block, pass, list.count());
            device.flush();
        }
    }

    /** Fills the device with one block, as one of several passes. */
    private void write(byte[] block, int pass, int passes) throws StorageException {
        long blocks = device.blockCount();
        int piece = Math.min(PIECE_BYTES / device.blockSize(), device.limits().maxTransferBlocks());
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate((long) piece * device.blockSize(), 4096);
            for (int i = 0; i < piece; i++) {
                MemorySegment.copy(block, 0, buffer, ValueLayout.JAVA_BYTE,
                        (long) i * device.blockSize(), device.blockSize());
            }
            for (long lba = 0; lba < blocks; lba += piece) {
                long count = Math.min(piece, blocks - lba);
                operation.requireGoingOn();
                device.write(lba, buffer.asSlice(0, count * device.blockSize()));
                operation.progress(pass * blocks + lba + count, passes * blocks);
            }
        } catch (IllegalStateException e) {
            throw new DeviceGoneException("cannot allocate memory for erasing", e);
        }
    }
}
