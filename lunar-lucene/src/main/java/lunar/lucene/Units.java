package lunar.lucene;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import lunar.block.BlockDevice;
import lunar.block.Capability;
import lunar.block.StorageException;

/** Access to a device in units. Transfers are split to the device's limits. */
final class Units {
    private final BlockDevice device;
    private final int blocksPerUnit;
    private final long chunkBytes;

    Units(BlockDevice device) {
        this.device = device;
        this.blocksPerUnit = Layout.UNIT_BYTES / device.blockSize();
        this.chunkBytes = (long) device.limits().maxTransferBlocks() * device.blockSize();
    }

    /** Units of the device. */
    long count() { return device.blockCount() / blocksPerUnit; }

    /** Whether read-ahead is useless, because the device never waits. */
    boolean neverWaits() {
        return device.supports(Capability.NON_BLOCKING);
    }

    boolean readOnly() { return device.readOnly(); }

    byte[] read(long unit, int units) throws StorageException {
        byte[] bytes = new byte[units * Layout.UNIT_BYTES];
        read(unit, MemorySegment.ofArray(bytes));
        return bytes;
    }

    /** Reads whole units. */
    void read(long unit, MemorySegment buffer) throws StorageException {
        for (long at = 0; at < buffer.byteSize(); at += chunkBytes) {
            device.read(lba(unit, at), chunk(buffer, at));
        }
    }

    void write(long unit, byte[] bytes) throws StorageException {
        MemorySegment buffer = MemorySegment.ofArray(bytes);
        for (long at = 0; at < buffer.byteSize(); at += chunkBytes) {
            device.write(lba(unit, at), chunk(buffer, at));
        }
    }

    /** The queued form of a read of whole units. */
    CompletableFuture<Void> submitRead(long unit, MemorySegment buffer) {
        return submit(unit, buffer, device::submitRead);
    }

    /** The queued form of a write of whole units. */
    CompletableFuture<Void> submitWrite(long unit, MemorySegment buffer) {
        return submit(unit, buffer, device::submitWrite);
    }

    private CompletableFuture<Void> submit(long unit, MemorySegment buffer,
            BiFunction<Long, MemorySegment, CompletableFuture<Void>> operation) {
        if (buffer.byteSize() <= chunkBytes) {
            return operation.apply(unit * blocksPerUnit, buffer);
        }
        List<CompletableFuture<Void>> parts = new ArrayList<>();
        for (long at = 0; at < buffer.byteSize(); at += chunkBytes) {
            parts.add(operation.apply(lba(unit, at), chunk(buffer, at)));
        }
        return CompletableFuture.allOf(parts.toArray(CompletableFuture[]::new));
    }

    private long lba(long unit, long offsetBytes) {
        return unit * blocksPerUnit + offsetBytes / device.blockSize();
    }

    private MemorySegment chunk(MemorySegment buffer, long at) {
        return buffer.asSlice(at, Math.min(chunkBytes, buffer.byteSize() - at));
    }

    void flush() throws StorageException { device.flush(); }

    @Override
    public String toString() { return device.toString(); }
}
