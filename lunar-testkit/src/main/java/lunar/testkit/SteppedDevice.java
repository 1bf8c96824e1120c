package lunar.testkit;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Capability;
import lunar.block.DeviceGoneException;
import lunar.block.Geometry;
import lunar.block.Identity;
import lunar.block.Limits;
import lunar.block.MiscompareException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.block.spi.RequestValidation;
import org.jspecify.annotations.Nullable;

/**
 * A memory device whose submitted requests are executed and completed only on demand of the test, separately and in any
 * order, so that a test can explore the interleavings of a device with many requests in flight. Executed requests
 * complete immediately. Not thread-safe.
 */
public final class SteppedDevice implements BlockDevice {
    /** Bytes of a block. */
    public static final int BLOCK_BYTES = 512;

    private static final int MAX_TRANSFER_BLOCKS = 64;
    private static final int MAX_COMPARE_BLOCKS = 8;

    private final List<Step> pending = new ArrayList<>();
    private MemorySegment content;
    private boolean closed;

    /** A device of zeroes. */
    public SteppedDevice(int blockCount) { content = zeroes(blockCount); }

    private static MemorySegment zeroes(int blockCount) {
        return MemorySegment.ofArray(new byte[blockCount * BLOCK_BYTES]);
    }

    /** A submitted request that has not ended. */
    public final class Step {
        private final BlockRequest request;
        private boolean done;
        private @Nullable StorageException failure;

        private Step(BlockRequest request) { this.request = request; }

        /** The request; its buffer belongs to the device. */
        public BlockRequest request() {
            return request;
        }

        /** Whether it has had its effect. */
        public boolean isDone() { return done; }

        /** Reads or changes the content, as the request wants. */
        public void run() {
            done = true;
            try {
                execute(request);
            } catch (StorageException e) {
                failure = e;
            }
        }

        /** Ends the request as its effect was; does it first if that has not been. */
        public void end() {
            if (!done) {
                run();
            }
            pending.remove(this);
            RequestCompletion.complete(request, failure);
        }

        /** Ends the request with a failure, whether it had its effect or not. */
        public void fail(StorageException why) {
            pending.remove(this);
            RequestCompletion.fail(request, why);
        }
    }

    /** Submitted requests that have not ended, in the order of their arrival. */
    public List<Step> pending() {
        return List.copyOf(pending);
    }

    /** Completes all requests, including those that arrive meanwhile, in order of arrival. */
    public void endAll() {
        while (!pending.isEmpty()) {
            pending.getFirst().end();
        }
    }

    /** The blocks themselves. */
    public MemorySegment content() { return content; }

    /** Cuts blocks off at the end, or adds blocks of zeroes. */
    public void resize(int blockCount) {
        MemorySegment resized = zeroes(blockCount);
        long kept = Math.min(content.byteSize(), resized.byteSize());
        resized.asSlice(0, kept).copyFrom(content.asSlice(0, kept));
        content = resized;
    }

    @Override
    public Geometry geometry() {
        return Geometry.of(BLOCK_BYTES, content.byteSize() / BLOCK_BYTES);
    }

    @Override
    public Limits limits() {
        return new Limits(MAX_TRANSFER_BLOCKS, MAX_TRANSFER_BLOCKS, MAX_TRANSFER_BLOCKS,
                MAX_TRANSFER_BLOCKS, MAX_COMPARE_BLOCKS, MAX_TRANSFER_BLOCKS, 8, 1);
    }

    @Override
    public Set<Capability> capabilities() {
        return Set.copyOf(EnumSet.of(Capability.UNMAP, Capability.UNMAP_ZEROES,
                Capability.WRITE_ZEROES, Capability.COMPARE_AND_WRITE, Capability.ATOMIC_WRITE,
                Capability.FUA));
    }

    @Override
    public Identity identity() { return Identity.of("stepped", new UUID(0, 1)); }

    @Override
    public boolean readOnly() { return false; }

    @Override
    public void execute(BlockRequest request) throws StorageException {
        if (closed) {
            throw new DeviceGoneException(request + ": closed");
        }
        RequestValidation.check(request, this);
        MemorySegment there = content.asSlice(request.lba() * BLOCK_BYTES,
                request.blockCount() * BLOCK_BYTES);
        switch (request.operation()) {
            case READ -> request.buffer().copyFrom(there);
            case WRITE -> there.copyFrom(request.buffer());
            case UNMAP, WRITE_ZEROES -> there.fill((byte) 0);
            case COMPARE_AND_WRITE -> {
                long differs = there.mismatch(request.buffer().asSlice(0, there.byteSize()));
                if (differs >= 0) {
                    throw new MiscompareException(request + ": differs", differs);
                }
                there.copyFrom(request.buffer().asSlice(there.byteSize()));
            }
            case FLUSH -> {
                // Memory is as stable as it will ever be.
            }
        }
    }

    @Override
    public void submit(BlockRequest request) { pending.add(new Step(request)); }

    /** Everything that is pending fails, without effect where it had none. */
    @Override
    public void close() {
        closed = true;
        while (!pending.isEmpty()) {
            pending.getFirst().fail(new DeviceGoneException("closed"));
        }
    }
}
