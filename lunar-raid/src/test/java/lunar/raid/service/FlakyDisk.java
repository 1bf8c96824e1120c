package lunar.raid.service;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Capability;
import lunar.block.DeadlineException;
import lunar.block.ForwardingDevice;
import lunar.block.Limits;
import lunar.block.MiscompareException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;

/** A disk that does not answer some requests, with COMPARE AND WRITE or without. */
public final class FlakyDisk extends ForwardingDevice {
    public final AtomicInteger toFail = new AtomicInteger();
    /** Action of another host before a record is compared. */
    volatile Runnable beforeSwap = () -> {};
    /** Action of another host between the reading of a record and a write. */
    public volatile Runnable beforeWrite = () -> {};
    volatile Runnable beforeRead = () -> {};
    /** Whether COMPARE AND WRITE is atomic for other hosts, too. */
    public volatile boolean comparesForAll = true;
    private final boolean isAtomic;

    public FlakyDisk(BlockDevice below, boolean isAtomic) {
        super(below);
        this.isAtomic = isAtomic;
    }

    @Override
    public Set<Capability> capabilities() {
        return isAtomic ? EnumSet.of(Capability.COMPARE_AND_WRITE) : Set.of();
    }

    @Override
    public boolean comparesForAllHosts() { return comparesForAll; }

    @Override
    public Limits limits() { return new Limits(1024, 1024, 0, 0, 1, 1, 1); }

    @Override
    public synchronized void execute(BlockRequest request) throws StorageException {
        if (toFail.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
            throw new DeadlineException(request + ": no answer");
        }
        if (request.operation() != BlockRequest.Operation.COMPARE_AND_WRITE) {
            if (request.operation() == BlockRequest.Operation.WRITE) {
                beforeWrite.run();
            } else if (request.operation() == BlockRequest.Operation.READ) {
                beforeRead.run();
            }
            below().execute(request);
            return;
        }
        beforeSwap.run();
        var both = request.buffer();
        var found = MemorySegment.ofArray(new byte[blockSize()]);
        below().read(request.lba(), found);
        if (found.mismatch(both.asSlice(0, blockSize())) >= 0) {
            throw new MiscompareException("another one was quicker", 0);
        }
        below().write(request.lba(), both.asSlice(blockSize()));
    }

    @Override
    public void submit(BlockRequest request) {
        try {
            execute(request);
            RequestCompletion.succeed(request);
        } catch (StorageException e) {
            RequestCompletion.fail(request, e);
        }
    }
}
