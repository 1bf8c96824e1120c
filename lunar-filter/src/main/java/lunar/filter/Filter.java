package lunar.filter;

import java.util.EnumSet;
import java.util.Set;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Capability;
import lunar.block.ForwardingDevice;

/** Base class of filters: a device over another device. */
abstract sealed class Filter extends ForwardingDevice permits CacheFilter,
        EncryptFilter, FaultFilter, ScheduleFilter, TimedFilter, TraceFilter, VerifyFilter,
        VolatileFilter {
    private final Set<Capability> capabilities;

    /** @param lost what the filter cannot pass on: a transfer past it, for most */
    Filter(BlockDevice below, Set<Capability> lost) {
        super(below);
        Set<Capability> rest = EnumSet.noneOf(Capability.class);
        rest.addAll(below.capabilities());
        rest.removeAll(lost);
        this.capabilities = Set.copyOf(rest);
    }

    @Override
    public Set<Capability> capabilities() { return capabilities; }

    /** Submits a copy to the lower device; the filter sees the end of the copy before it ends the request itself. */
    final void passOn(BlockRequest request, BlockRequest.Completion end) {
        below().submit(new BlockRequest().asCopyOf(request).onCompletion(end));
    }
}
