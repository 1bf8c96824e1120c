package lunar.filter;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.EnumSet;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Capability;
import lunar.block.DeviceGoneException;
import lunar.block.Extent;
import lunar.block.Geometry;
import lunar.block.Identity;
import lunar.block.Limits;
import lunar.block.MiscompareException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.block.spi.RequestValidation;

/** Device over an array. Submitted requests complete immediately, or when the test completes them. */
final class ToyDevice implements BlockDevice {
    final MemorySegment content;
    final Queue<BlockRequest> held = new ArrayDeque<>();
    private final Set<Capability> capabilities;
    long allocatedFrom;
    boolean holding;
    boolean readOnly;
    boolean closed;

    ToyDevice(int blockCount, Capability... capabilities) {
        this.content = MemorySegment.ofArray(new byte[512 * blockCount]);
        this.capabilities = EnumSet.noneOf(Capability.class);
        this.capabilities.addAll(Set.of(capabilities));
    }

    @Override
    public Geometry geometry() { return new Geometry(512, content.byteSize() / 512, 4096); }

    @Override
    public Limits limits() { return new Limits(64, 8, 32, 32, 4, 8, 1); }

    @Override
    public Set<Capability> capabilities() { return capabilities; }

    @Override
    public Identity identity() { return Identity.of("toy", new UUID(1, 2)); }

    @Override
    public boolean readOnly() { return readOnly; }

    @Override
    public synchronized void execute(BlockRequest request) throws StorageException {
        if (closed) {
            throw new DeviceGoneException("closed");
        }
        RequestValidation.check(request, this);
        MemorySegment there = content.asSlice(request.lba() * 512, request.blockCount() * 512);
        switch (request.operation()) {
            case READ -> request.buffer().copyFrom(there);
            case WRITE -> there.copyFrom(request.buffer());
            case UNMAP, WRITE_ZEROES -> there.fill((byte) 0);
            case FLUSH -> {
            }
            case COMPARE_AND_WRITE -> {
                long differs = there.mismatch(request.buffer().asSlice(0, there.byteSize()));
                if (differs >= 0) {
                    throw new MiscompareException("differs", differs);
                }
                there.copyFrom(request.buffer().asSlice(there.byteSize()));
            }
        }
    }

    @Override
    public Extent extent(long lba) throws StorageException {
        long rest = BlockDevice.super.extent(lba).blockCount();
        return lba < allocatedFrom
                ? new Extent(lba, allocatedFrom - lba, false)
                : new Extent(lba, rest, true);
    }

    @Override
    public void submit(BlockRequest request) {
        if (holding) {
            held.add(request);
        } else {
            RequestCompletion.executeAndComplete(request, this);
        }
    }

    void releaseOne() { RequestCompletion.executeAndComplete(held.remove(), this); }

    @Override
    public void close() {
        closed = true;
        while (!held.isEmpty()) {
            releaseOne();
        }
    }
}
