package lunar.fs;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Capability;
import lunar.block.Geometry;
import lunar.block.Identity;
import lunar.block.Limits;
import lunar.block.StorageException;

/** Device over an array that counts reads and permits nothing else. */
final class ReadOnlyBytes implements BlockDevice {
    private static final int BLOCK = 512;

    private final byte[] bytes;
    private long readBytes;

    ReadOnlyBytes(byte[] bytes) { this.bytes = bytes; }

    /** Bytes that were read since the last call. */
    long takeReadBytes() {
        long count = readBytes;
        readBytes = 0;
        return count;
    }

    @Override
    public Geometry geometry() { return Geometry.of(BLOCK, bytes.length / BLOCK); }

    @Override
    public Limits limits() { return new Limits(64, 64, 0, 0, 0, 1, 1); }

    @Override
    public Set<Capability> capabilities() { return Set.of(); }

    @Override
    public Identity identity() { return new Identity("LUNAR", "BYTES", "1", "1", new UUID(0, 1)); }

    @Override
    public boolean readOnly() { return true; }

    @Override
    public void execute(BlockRequest request) throws StorageException {
        if (request.operation() != BlockRequest.Operation.READ) {
            throw new AssertionError(request.operation() + " of a device that is only read");
        }
        long from = request.lba() * BLOCK;
        long count = request.blockCount() * BLOCK;
        if (request.lba() < 0 || from + count > bytes.length || request.blockCount() > 64) {
            throw new AssertionError("block " + request.lba() + ", " + request.blockCount());
        }
        MemorySegment.copy(MemorySegment.ofArray(bytes), from, request.buffer(), 0, count);
        readBytes += count;
    }

    @Override
    public void submit(BlockRequest request) { throw new AssertionError("not used"); }

    @Override
    public void close() {}
}
