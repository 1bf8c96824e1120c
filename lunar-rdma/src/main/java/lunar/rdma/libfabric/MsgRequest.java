package lunar.rdma.libfabric;

import java.net.InetSocketAddress;
import lunar.rdma.RdmaException;
import lunar.rdma.spi.ConnectionEvents;
import lunar.rdma.spi.EndpointSetup;
import lunar.rdma.spi.ProviderEndpoint;
import lunar.rdma.spi.ProviderRequest;

/** A connection request of libfabric: an info with a handle. */
final class MsgRequest implements ProviderRequest {
    private final MsgListener listener;
    private final FabricInfo info;
    private final byte[] privateData;
    private final InetSocketAddress peer;

    /**
     * @param info owned by the request
     */
    MsgRequest(MsgListener listener, FabricInfo info, byte[] privateData) {
        this.listener = listener;
        this.info = info;
        this.privateData = privateData;
        peer = info.destination().orElse(new InetSocketAddress(0));
    }

    @Override
    public InetSocketAddress peer() { return peer; }

    @Override
    public byte[] privateData() { return privateData.clone(); }

    @Override
    public ProviderEndpoint createEndpoint(EndpointSetup setup, ConnectionEvents events)
            throws RdmaException {
        var endpoint = new MsgEndpoint(listener.channel(), setup, events);
        try {
            endpoint.open(info);
        } finally {
            info.close();
            listener.answered();
        }
        return endpoint;
    }

    @Override
    public void reject(byte[] data) {
        listener.reject(info.handle(), data); // a peer that has gone away is no error
        info.close();
        listener.answered();
    }
}
