package lunar.block;

import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * A device over another device, which it owns. Delegates every operation that a subclass does not override, except
 * requests, which a subclass implements, and transfers: a subclass that has {@link Capability#TRANSFER_TO} overrides
 * {@link #transferTo} too.
 */
public abstract class ForwardingDevice implements BlockDevice {
    private final BlockDevice below;

    protected ForwardingDevice(BlockDevice below) { this.below = below; }

    /** Returns the device below, which is closed with this one. */
    public final BlockDevice below() {
        return below;
    }

    @Override
    public Geometry geometry() { return below.geometry(); }

    @Override
    public Limits limits() { return below.limits(); }

    @Override
    public Set<Capability> capabilities() { return below.capabilities(); }

    @Override
    public Identity identity() { return below.identity(); }

    @Override
    public Optional<UUID> writeVerifier() { return below.writeVerifier(); }

    @Override
    public long writeLosses() { return below.writeLosses(); }

    @Override
    public Optional<DeviceLabels> labels() { return below.labels(); }

    @Override
    public boolean readOnly() { return below.readOnly(); }

    @Override
    public Extent extent(long lba) throws StorageException { return below.extent(lba); }

    @Override
    public Optional<Usage> usage() { return below.usage(); }

    @Override
    public void eraseKey() throws StorageException { below.eraseKey(); }

    @Override
    public void refresh() throws StorageException { below.refresh(); }

    @Override
    public void grow(long blockCount) throws StorageException { below.grow(blockCount); }

    @Override
    public Optional<Fencing> fencing() { return below.fencing(); }

    @Override
    public boolean comparesForAllHosts() { return below.comparesForAllHosts(); }

    @Override
    public boolean isCurrent() { return below.isCurrent(); }

    @Override
    public void forget(long lba, long blockCount) { below.forget(lba, blockCount); }

    @Override
    public void close() throws StorageException { below.close(); }

    @Override
    public String toString() { return below.toString(); }
}
