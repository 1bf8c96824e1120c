package lunar.raid.engine;

import java.util.BitSet;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.ForwardingDevice;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;

/** A device whose blocks get space when they are first written, as far as there is any. For one thread. */
final class ThinDevice extends ForwardingDevice {
    /** Blocks that may still get space. */
    int space;
    private final BitSet allocated = new BitSet();

    ThinDevice(BlockDevice below, int space) {
        super(below);
        this.space = space;
    }

    @Override
    public void submit(BlockRequest request) {
        RequestCompletion.executeAndComplete(request, this);
    }

    /** A write goes as far as it can, as those of a file do. */
    @Override
    public void execute(BlockRequest request) throws StorageException {
        if (request.operation() != Operation.WRITE) {
            below().execute(request);
            return;
        }
        int first = (int) request.lba();
        int count = 0;
        while (count < request.blockCount() && (allocated.get(first + count) || space > 0)) {
            space -= allocated.get(first + count) ? 0 : 1;
            allocated.set(first + count++);
        }
        if (count > 0) {
            below().execute(new BlockRequest().asWrite(first, count,
                    request.buffer().asSlice(0, (long) count * blockSize()), request.fua()));
        }
        if (count < request.blockCount()) {
            throw new NoSpaceException(request + ": no space");
        }
    }
}
