package lunar.scsi.target;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Capability;
import lunar.block.Geometry;
import lunar.block.Identity;
import lunar.block.Limits;
import lunar.block.NotSupportedException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;

/** 1 MiB memory device for the tests of this module, which cannot depend on the stores. */
public final class Blocks implements BlockDevice {
    private static final int BLOCK_BYTES = 512;
    private static final int COUNT = 2048;

    private final MemorySegment content = MemorySegment.ofArray(new byte[COUNT * BLOCK_BYTES]);
    private final Identity identity = Identity.of("BLOCKS", UUID.randomUUID());

    @Override
    public Geometry geometry() { return Geometry.of(BLOCK_BYTES, COUNT); }

    @Override
    public Limits limits() { return new Limits(COUNT, COUNT, 0, 0, 0, 64, 1); }

    @Override
    public Set<Capability> capabilities() { return Set.of(); }

    @Override
    public Identity identity() { return identity; }

    @Override
    public boolean readOnly() { return false; }

    @Override
    public synchronized void execute(BlockRequest request) throws StorageException {
        MemorySegment place = content.asSlice(request.lba() * BLOCK_BYTES,
                request.blockCount() * BLOCK_BYTES);
        switch (request.operation()) {
            case READ -> request.buffer().copyFrom(place);
            case WRITE -> place.copyFrom(request.buffer());
            case FLUSH -> {
                // memory has no stable storage
            }
            case UNMAP, WRITE_ZEROES, COMPARE_AND_WRITE -> throw new NotSupportedException(
                    request.operation().toString());
        }
    }

    @Override
    public void submit(BlockRequest request) {
        RequestCompletion.executeAndComplete(request, this);
    }

    @Override
    public void close() {}
}
