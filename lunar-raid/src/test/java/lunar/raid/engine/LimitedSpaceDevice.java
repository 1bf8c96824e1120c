package lunar.raid.engine;

import java.util.ArrayDeque;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BusyException;
import lunar.block.ForwardingDevice;
import lunar.block.Limits;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;

/** A device that holds a number of requests until it is told to end them, and is busy for more. For one thread. */
final class LimitedSpaceDevice extends ForwardingDevice {
    /** Requests that it takes; 0 where it is busy for all. */
    int room;
    int refused;
    int most;
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
        return new Limits(of.maxTransferBlocks(), of.optimalTransferBlocks(), of.maxUnmapBlocks(),
                of.maxWriteZeroesBlocks(), of.maxCompareAndWriteBlocks(), queueDepth, 1);
    }

    @Override
    public void execute(BlockRequest request) throws StorageException { below().execute(request); }

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
            RequestCompletion.executeAndComplete(oldest, below());
        }
        return oldest != null;
    }
}
