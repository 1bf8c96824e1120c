package lunar.target;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockRequest;
import lunar.block.DeadlineException;
import lunar.block.Devices;
import lunar.block.ForwardingDevice;
import lunar.block.StorageException;

/** Memory device whose blocking requests each wait until the test releases them. */
final class HeldDevice extends ForwardingDevice {
    private static final long PATIENCE_SECONDS = 120;

    private final Semaphore passes = new Semaphore(0);
    private final Semaphore arrivals = new Semaphore(0);

    HeldDevice(String uri) throws StorageException { super(Devices.open(uri)); }

    /** Waits until a request has come. */
    void awaitArrival() throws InterruptedException {
        if (!arrivals.tryAcquire(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("no request has reached the device");
        }
    }

    /** Lets so many requests pass. */
    void pass(int requests) { passes.release(requests); }

    @Override
    public void execute(BlockRequest request) throws StorageException {
        arrivals.release();
        try {
            if (!passes.tryAcquire(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                throw new DeadlineException("nobody let the request pass");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DeadlineException("interrupted");
        }
        below().execute(request);
    }

    @Override
    public void submit(BlockRequest request) { below().submit(request); }
}
