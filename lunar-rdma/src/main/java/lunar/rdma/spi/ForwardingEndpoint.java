package lunar.rdma.spi;

import java.net.InetSocketAddress;
import lunar.rdma.RdmaException;
import lunar.rdma.WorkRequest;

/** Delegates every operation that a subclass does not override to another endpoint. */
public class ForwardingEndpoint implements ProviderEndpoint {
    private final ProviderEndpoint endpoint;

    protected ForwardingEndpoint(ProviderEndpoint endpoint) { this.endpoint = endpoint; }

    @Override
    public void connect(InetSocketAddress address, byte[] privateData) throws RdmaException {
        endpoint.connect(address, privateData);
    }

    @Override
    public void accept(byte[] privateData) throws RdmaException { endpoint.accept(privateData); }

    @Override
    public boolean post(WorkRequest request, long id) throws RdmaException {
        return endpoint.post(request, id);
    }

    @Override
    public boolean reportsUnsignalled() { return endpoint.reportsUnsignalled(); }

    @Override
    public void disconnect() { endpoint.disconnect(); }

    @Override
    public boolean abort() { return endpoint.abort(); }

    @Override
    public void awaitLastReceive() { endpoint.awaitLastReceive(); }

    @Override
    public void close() { endpoint.close(); }
}
