package lunar.raid.engine;

import java.util.ArrayDeque;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.BusyException;
import lunar.block.ForwardingDevice;
import lunar.block.Limits;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;

/** A device that holds a number of requests until it is told to end them, and is busy for more. For one thread. */
final class LimitedSpaceDevice extends ForwardingDevice {
    /** Requests that it takes; 0 where it is busy for all. */
    int room;
    int refused;
    int most;
    /** Whether reads fail. */
    boolean isUnreadable;
    int maxTransferBlocks = Integer.MAX_VALUE;
    private final int queueDepth;
    private final ArrayDeque<BlockRequest> held = new ArrayDeque<>();

    LimitedSpaceDevice(BlockDevice below, int room, int queueDepth) {
        super(below);
        this.room = room;
        this.queueDepth = queueDepth;
    }

    @Override
    public Limits limits() {
        Limits of = below().limits();
        return new Limits(Math.min(of.maxTransferBlocks(), maxTransferBlocks),
                Math.min(of.optimalTransferBlocks(), maxTransferBlocks), of.maxUnmapBlocks(),
                of.maxWriteZeroesBlocks(), of.maxCompareAndWriteBlocks(), queueDepth, 1);
    }

    @Override
    public void execute(BlockRequest request) throws StorageException {
        if (isUnreadable && request.operation() == Operation.READ) {
            throw new MediumException(this + ": unreadable");
        }
        below().execute(request);
    }

    @Override
    public void submit(BlockRequest request) {
        if (held.size() >= room) {
            refused++;
            RequestCompletion.fail(request,
                    new BusyException(this + ": " + room + " requests wait already"));
            return;
        }
        held.add(request);
        most = Math.max(most, held.size());
    }

    int held() { return held.size(); }

    /** Ends the oldest request; false where there is none. */
    boolean step() {
        BlockRequest oldest = held.poll();
        if (oldest != null) {
            RequestCompletion.executeAndComplete(oldest, this);
        }
        return oldest != null;
    }
}
