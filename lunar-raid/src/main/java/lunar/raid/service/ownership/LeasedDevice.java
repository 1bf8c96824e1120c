package lunar.raid.service.ownership;

import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.DeviceGoneException;
import lunar.block.ForwardingDevice;
import lunar.block.StorageException;

/** A member that takes requests only while this process is certain to own the volume. */
final class LeasedDevice extends ForwardingDevice {
    private final Lease lease;
    private volatile boolean isClosed;

    LeasedDevice(BlockDevice member, Lease lease) {
        super(member);
        this.lease = lease;
    }

    @Override
    public void execute(BlockRequest request) throws StorageException {
        lease.await(request, this);
        below().execute(request);
    }

    @Override
    public void submit(BlockRequest request) { lease.submit(request, this); }

    /** {@inheritDoc} Requests that wait for the lease fail. */
    @Override
    public void close() throws StorageException {
        isClosed = true;
        lease.closed(this);
        super.close();
    }

    boolean isClosed() { return isClosed; }

    /** Returns the failure of requests after the close. */
    StorageException gone(BlockRequest request) {
        return new DeviceGoneException(request + ": " + this + " is closed");
    }

    /** Returns the member itself, for confirming the lease. */
    static BlockDevice bare(BlockDevice device) {
        BlockDevice at = device;
        while (at instanceof ForwardingDevice forwarding) {
            if (at instanceof LeasedDevice leased) {
                return leased.below();
            }
            at = forwarding.below();
        }
        return device;
    }
}
