package lunar.rdma;

import java.util.ArrayList;
import java.util.List;
import lunar.rdma.spi.ConnectionEvents;
import lunar.rdma.spi.EndpointSetup;
import lunar.rdma.spi.ForwardingChannel;
import lunar.rdma.spi.ForwardingDevice;
import lunar.rdma.spi.ProviderChannel;
import lunar.rdma.spi.ProviderDevice;
import lunar.rdma.spi.ProviderDomain;
import lunar.rdma.spi.ProviderEndpoint;

/** Wraps a device and records the provider's objects behind its domains and connecting endpoints. */
final class WatchedDevice extends ForwardingDevice {
    final List<ProviderDomain> domains = new ArrayList<>();
    final List<ProviderEndpoint> endpoints = new ArrayList<>();

    WatchedDevice(ProviderDevice device) { super(device); }

    @Override
    protected ProviderDomain wrap(ProviderDomain domain) {
        domains.add(domain);
        return super.wrap(domain);
    }

    @Override
    protected ProviderChannel wrap(ProviderChannel channel) {
        return new ForwardingChannel(channel) {
            @Override
            public ProviderEndpoint createEndpoint(EndpointSetup setup, ConnectionEvents events)
                    throws RdmaException {
                ProviderEndpoint endpoint = super.createEndpoint(setup, events);
                endpoints.add(endpoint);
                return endpoint;
            }
        };
    }
}
