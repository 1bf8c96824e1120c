package lunar.raid.meta;

import java.util.Set;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Capability;
import lunar.block.Geometry;
import lunar.block.Identity;
import lunar.block.Limits;
import lunar.block.StorageException;

/** A member that is asked again where that may help, as long as somebody waits; whoever submits does that himself. */
final class RetryingDevice implements BlockDevice {
    private final BlockDevice device;
    private final int retries;

    RetryingDevice(BlockDevice device, int retries) {
        this.device = device;
        this.retries = retries;
    }

    /** The member itself. */
    BlockDevice device() { return device; }

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
    public void execute(BlockRequest request) throws StorageException {
        for (int left = retries;; left--) {
            try {
                device.execute(request);
                return;
            } catch (StorageException e) {
                if (left == 0 || !e.retryable()) {
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
