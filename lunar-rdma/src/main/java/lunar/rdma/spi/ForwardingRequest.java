package lunar.rdma.spi;

import java.net.InetSocketAddress;
import lunar.rdma.RdmaException;

/** Delegates every operation that a subclass does not override to another connection request. */
public class ForwardingRequest implements ProviderRequest {
    private final ProviderRequest request;

    protected ForwardingRequest(ProviderRequest request) { this.request = request; }

    @Override
    public InetSocketAddress peer() { return request.peer(); }

    @Override
    public byte[] privateData() { return request.privateData(); }

    @Override
    public ProviderEndpoint createEndpoint(ProviderChannel channel, EndpointSetup setup,
            ConnectionEvents events) throws RdmaException {
        return request.createEndpoint(channel, setup, events);
    }

    @Override
    public void reject(byte[] privateData) throws RdmaException { request.reject(privateData); }
}
