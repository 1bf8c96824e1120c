package lunar.rdma;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import lunar.rdma.spi.ConnectionEvents;
import lunar.rdma.spi.EndpointSetup;
import lunar.rdma.spi.ListenerEvents;
import lunar.rdma.spi.ProviderChannel;
import lunar.rdma.spi.ProviderDevice;
import lunar.rdma.spi.ProviderDomain;
import lunar.rdma.spi.ProviderEndpoint;
import lunar.rdma.spi.ProviderListener;
import lunar.rdma.spi.ProviderQueue;
import lunar.rdma.spi.ProviderReceiveQueue;
import lunar.rdma.spi.ProviderRegion;

/** Wraps a device and records the provider's objects behind its domains and connecting endpoints. */
final class WatchedDevice implements ProviderDevice {
    final List<ProviderDomain> domains = new ArrayList<>();
    final List<ProviderEndpoint> endpoints = new ArrayList<>();
    private final ProviderDevice device;

    WatchedDevice(ProviderDevice device) { this.device = device; }

    @Override
    public DeviceInfo info() { return device.info(); }

    @Override
    public ProviderDomain open() throws RdmaException {
        ProviderDomain domain = device.open();
        domains.add(domain);
        return new Domain(domain);
    }

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
            return new Channel(domain.openChannel());
        }

        @Override
        public ProviderReceiveQueue createReceiveQueue(int depth, int segments)
                throws RdmaException {
            return domain.createReceiveQueue(depth, segments);
        }

        @Override
        public void close() { domain.close(); }
    }

    private final class Channel implements ProviderChannel {
        private final ProviderChannel channel;

        Channel(ProviderChannel channel) { this.channel = channel; }

        @Override
        public ProviderQueue createQueue(int depth) throws RdmaException {
            return channel.createQueue(depth);
        }

        @Override
        public ProviderListener listen(InetSocketAddress address, int backlog,
                ListenerEvents events) throws RdmaException {
            return channel.listen(address, backlog, events);
        }

        @Override
        public ProviderEndpoint createEndpoint(EndpointSetup setup, ConnectionEvents events)
                throws RdmaException {
            ProviderEndpoint endpoint = channel.createEndpoint(setup, events);
            endpoints.add(endpoint);
            return endpoint;
        }

        @Override
        public void poll() throws RdmaException { channel.poll(); }

        @Override
        public void await(long limitMs) throws RdmaException { channel.await(limitMs); }

        @Override
        public void wakeup() { channel.wakeup(); }

        @Override
        public void close() { channel.close(); }
    }
}
