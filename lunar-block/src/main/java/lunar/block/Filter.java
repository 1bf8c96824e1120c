package lunar.block;

import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/** A device over a device, which it owns. It is what the lower one is, except for what a subclass does to requests. */
abstract sealed class Filter implements BlockDevice permits EncryptFilter, FaultFilter,
        TimedFilter, TraceFilter, VerifyFilter {
    private final BlockDevice below;
    private final Set<Capability> capabilities;

    /** @param lost what the filter cannot pass on: a transfer past it, for most */
    Filter(BlockDevice below, Set<Capability> lost) {
        this.below = below;
        Set<Capability> rest = EnumSet.noneOf(Capability.class);
        rest.addAll(below.capabilities());
        rest.removeAll(lost);
        this.capabilities = Set.copyOf(rest);
    }

    /** The device under the filter. Closing the filter closes it. */
    public final BlockDevice below() {
        return below;
    }

    @Override
    public final Geometry geometry() { return below.geometry(); }

    @Override
    public Limits limits() { return below.limits(); }

    @Override
    public Set<Capability> capabilities() { return capabilities; }

    @Override
    public final Identity identity() { return below.identity(); }

    @Override
    public final boolean readOnly() { return below.readOnly(); }

    @Override
    public Extent extent(long lba) throws StorageException { return below.extent(lba); }

    @Override
    public final Optional<Usage> usage() { return below.usage(); }

    @Override
    public void eraseKey() throws StorageException { below.eraseKey(); }

    @Override
    public final void refresh() throws StorageException { below.refresh(); }

    @Override
    public final void grow(long blockCount) throws StorageException { below.grow(blockCount); }

    @Override
    public void close() throws StorageException { below.close(); }

    /** Submits a copy to the lower device, whose end the filter sees before it ends the request itself. */
    final void passOn(BlockRequest request, BlockRequest.Completion end) {
        below.submit(new BlockRequest().asCopyOf(request).onCompletion(end));
    }
}
