package lunar.rdma.spi;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import lunar.rdma.Access;
import lunar.rdma.DeviceInfo;
import lunar.rdma.RdmaException;

/**
 * Delegates every operation to another device. A subclass wraps the objects of that device, for instance with a
 * {@link ForwardingChannel}, to observe operations, to delay them or to make them fail.
 */
public abstract class ForwardingDevice implements ProviderDevice {
    private final ProviderDevice device;

    protected ForwardingDevice(ProviderDevice device) { this.device = device; }

    /** Returns the domain to be used for one that the other device has opened; by default its channels are wrapped. */
    protected ProviderDomain wrap(ProviderDomain domain) {
        return new Domain(domain);
    }

    /** Returns the channel to be used for one that the other device has opened. */
    protected abstract ProviderChannel wrap(ProviderChannel channel);

    @Override
    public DeviceInfo info() { return device.info(); }

    @Override
    public ProviderDomain open() throws RdmaException { return wrap(device.open()); }

    private final class Domain implements ProviderDomain {
        private final ProviderDomain domain;

        Domain(ProviderDomain domain) { this.domain = domain; }

        @Override
        public ProviderRegion register(MemorySegment memory, Set<Access> access)
                throws RdmaException {
            return domain.register(memory, access);
        }

        @Override
        public ProviderChannel openChannel() throws RdmaException {
            return wrap(domain.openChannel());
        }

        @Override
        public ProviderReceiveQueue createReceiveQueue(int depth, int segments)
                throws RdmaException {
            return domain.createReceiveQueue(depth, segments);
        }

        @Override
        public void close() { domain.close(); }
    }
}
