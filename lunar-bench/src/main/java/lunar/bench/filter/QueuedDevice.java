package lunar.bench.filter;

import java.util.concurrent.ExecutionException;
import lunar.block.AbortedException;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.ForwardingDevice;
import lunar.block.StorageException;

/** Base class of filters that delay requests: {@link #execute} waits like for a submitted request. */
public abstract class QueuedDevice extends ForwardingDevice {
    public QueuedDevice(BlockDevice below) { super(below); }

    @Override
    public final void execute(BlockRequest request) throws StorageException {
        try {
            Void _ = submitFuture(new BlockRequest().asCopyOf(request)).get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof StorageException failure) {
                throw failure;
            }
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AbortedException(request + ": interrupted", e);
        }
    }
}
