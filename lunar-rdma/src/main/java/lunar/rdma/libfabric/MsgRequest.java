package lunar.rdma.libfabric;

import java.net.InetSocketAddress;
import lunar.rdma.ProviderException;
import lunar.rdma.RdmaException;
import lunar.rdma.spi.ConnectionEvents;
import lunar.rdma.spi.EndpointSetup;
import lunar.rdma.spi.ProviderChannel;
import lunar.rdma.spi.ProviderEndpoint;
import lunar.rdma.spi.ProviderRequest;

/** A connection request of libfabric: an info with a handle. */
final class MsgRequest implements ProviderRequest {
    private final MsgListener listener;
    private final FabricInfo info;
    private final byte[] privateData;
    private final InetSocketAddress peer;
    private boolean isEnded;

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
    public ProviderEndpoint createEndpoint(ProviderChannel channel, EndpointSetup setup,
            ConnectionEvents events) throws RdmaException {
        var endpoint = new MsgEndpoint((MsgChannel) channel, setup, events);
        try {
            endpoint.open(info);
            return endpoint;
        } catch (ProviderException e) {
            endpoint.close();
            throw e;
        } finally {
            end(); // also after a failure, which has consumed the handle
        }
    }

    @Override
    public void reject(byte[] data) {
        if (!isEnded) {
            listener.reject(info.handle(), data); // fails if the peer has gone away, which is no error
            end();
        }
    }

    private void end() {
        isEnded = true;
        info.close();
        listener.answered();
    }
}
