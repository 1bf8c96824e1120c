package lunar.raid.metadata.page;

import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BusyException;
import lunar.block.Capability;
import lunar.block.Geometry;
import lunar.block.Identity;
import lunar.block.Limits;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/** A member that is asked again where that may help, after a pause where it is busy; submitted requests go through. */
public final class RetryingDevice implements BlockDevice {
    /** Doubled each time: in all 2.5 seconds. */
    private static final long FIRST_PAUSE_NS = 10_000_000;
    private static final int MAX_PAUSES = 8;

    private final BlockDevice device;
    private final int retries;
    /** The failure of the last request that {@link #execute} could not do. */
    private volatile @Nullable StorageException failure;

    public RetryingDevice(BlockDevice device, int retries) {
        this.device = device;
        this.retries = retries;
    }

    /** The member itself. */
    BlockDevice device() { return device; }

    /** Whether this is what {@link #execute} ended with, and no failure of another device. */
    boolean hasFailedWith(StorageException why) {
        return why == failure; // the object itself tells the device
    }

    @Override
    public Geometry geometry() { return device.geometry(); }

    @Override
    public Limits limits() { return device.limits(); }

    @Override
    public Set<Capability> capabilities() { return device.capabilities(); }

    @Override
    public Identity identity() { return device.identity(); }

    @Override
    public boolean readOnly() { return device.readOnly(); }

    @Override
    public long writeLosses() { return device.writeLosses(); }

    @Override
    public void execute(BlockRequest request) throws StorageException {
        int left = retries;
        int pauses = 0;
        while (true) {
            try {
                device.execute(request);
                return;
            } catch (BusyException e) {
                if (pauses == MAX_PAUSES) {
                    failure = e;
                    throw e;
                }
                LockSupport.parkNanos(FIRST_PAUSE_NS << pauses++);
            } catch (StorageException e) {
                if (left-- == 0 || !e.retryable()) {
                    failure = e;
                    throw e;
                }
            }
        }
    }

    @Override
    public void submit(BlockRequest request) { device.submit(request); }

    @Override
    public void close() throws StorageException { device.close(); }

    @Override
    public String toString() { return device.toString(); }
}
