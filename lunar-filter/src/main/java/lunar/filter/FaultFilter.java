package lunar.filter;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Capability;
import lunar.block.Extent;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.block.spi.RequestValidation;
import org.jspecify.annotations.Nullable;

/**
 * Injects faults into requests according to a {@link FaultPlan}, {@code fault=0.01:ram:1GiB}. The same seed and the
 * same order of requests give the same faults. The plan can be changed while requests run.
 */
public final class FaultFilter extends Filter {
    private final Random random;
    private final AtomicLong injected = new AtomicLong();
    private volatile FaultPlan plan;

    /** A filter that owns the device below. */
    public FaultFilter(BlockDevice below, FaultPlan plan, long seed) {
        super(below, Set.of(Capability.TRANSFER_TO));
        this.plan = plan;
        this.random = new Random(seed);
    }

    /** Changes the plan for requests that come from now on. */
    public void plan(FaultPlan plan) {
        this.plan = plan;
    }

    /** Requests spoilt so far. */
    public long injected() { return injected.get(); }

    /** Hides holes while faults are planned: a caller that skips them would miss the faults that wait there. */
    @Override
    public Extent extent(long lba) throws StorageException {
        Extent extent = below().extent(lba);
        return plan.equals(FaultPlan.NONE) ? extent : new Extent(lba, blockCount() - lba, true);
    }

    @Override
    public void execute(BlockRequest request) throws StorageException {
        FaultPlan.Kind fault = draw(request);
        switch (fault) {
            case null -> below().execute(request);
            case ERROR -> throw failure(request);
            case TORN -> {
                below().execute(firstBlocksOf(request));
                throw failure(request);
            }
            case CORRUPT -> {
                below().execute(request);
                flipBit(request.buffer());
            }
        }
    }

    @Override
    public void submit(BlockRequest request) {
        FaultPlan.Kind fault = draw(request);
        switch (fault) {
            case null -> below().submit(request);
            case ERROR -> RequestCompletion.fail(request, failure(request));
            case TORN -> passOn(firstBlocksOf(request), (_, failure) -> RequestCompletion
                    .fail(request, failure == null ? failure(request) : failure));
            case CORRUPT -> passOn(request, (_, failure) -> {
                if (failure == null) {
                    flipBit(request.buffer());
                    RequestCompletion.succeed(request);
                } else {
                    RequestCompletion.fail(request, failure);
                }
            });
        }
    }

    /** The fault that this request gets, if any. One that breaks a rule is left to the device to refuse. */
    private FaultPlan.@Nullable Kind draw(BlockRequest request) {
        FaultPlan now = plan;
        if (!now.concerns(request)) {
            return null;
        }
        boolean bad = now.rate() > 0 && random.nextDouble() < now.rate();
        if (!bad && !now.isBad(request)) {
            return null;
        }
        try {
            RequestValidation.check(request, this);
        } catch (StorageException _) {
            return null;
        }
        injected.incrementAndGet();
        return now.kind();
    }

    /** Blocks before the tear, which is at a physical block: these are never mixed. */
    private BlockRequest firstBlocksOf(BlockRequest request) {
        int perPhysical = geometry().physicalBlockSize() / geometry().blockSize();
        long cut = request.blockCount() == 0 ? 0 : random.nextLong(request.blockCount());
        long tear = (request.lba() + cut) / perPhysical * perPhysical;
        long count = Math.max(0, tear - request.lba());
        return new BlockRequest().asWrite(request.lba(), count,
                request.buffer().asSlice(0, count * geometry().blockSize()), request.fua());
    }

    private void flipBit(MemorySegment buffer) {
        long at = random.nextLong(buffer.byteSize());
        byte spoilt = (byte) (buffer.get(ValueLayout.JAVA_BYTE, at) ^ (1 << random.nextInt(8)));
        buffer.set(ValueLayout.JAVA_BYTE, at, spoilt);
    }

    private static MediumException failure(BlockRequest request) {
        return new MediumException(request + ": injected fault");
    }

    @Override
    public String toString() { return "fault over " + below(); }
}
