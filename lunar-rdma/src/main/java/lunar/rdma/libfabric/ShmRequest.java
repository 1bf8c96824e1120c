package lunar.rdma.libfabric;

import java.io.IOException;
import java.net.InetSocketAddress;
import lunar.rdma.RdmaException;
import lunar.rdma.spi.ConnectionEvents;
import lunar.rdma.spi.EndpointSetup;
import lunar.rdma.spi.ProviderChannel;
import lunar.rdma.spi.ProviderEndpoint;
import lunar.rdma.spi.ProviderRequest;

/** Connection request of a peer over shm. */
final class ShmRequest implements ProviderRequest, ShmLink.User {
    private final ShmChannel channel;
    private final ShmLink link;
    private final ShmPeer peer;
    private final InetSocketAddress address;

    /** @param peer belongs to the request */
    ShmRequest(ShmChannel channel, ShmLink link, ShmPeer peer, InetSocketAddress address) {
        this.channel = channel;
        this.link = link;
        this.peer = peer;
        this.address = address;
    }

    @Override
    public InetSocketAddress peer() { return address; }

    @Override
    public byte[] privateData() { return peer.message().data().clone(); }

    @Override
    public ProviderEndpoint createEndpoint(ProviderChannel home, EndpointSetup setup,
            ConnectionEvents events) throws RdmaException {
        return ((ShmChannel) home).createEndpoint(setup, events, channel, link, peer);
    }

    @Override
    public void reject(byte[] data) {
        try {
            link.send(ShmMessage.of(ShmMessage.Kind.REJECT, data));
        } catch (IOException e) {
            // The peer has closed the connection.
        }
        link.close();
        peer.close();
    }

    @Override
    public void connected() { throw new AssertionError("it has connected before"); }

    @Override
    public void received(ShmMessage unexpected) throws IOException {
        throw new IOException(unexpected.kind() + " before an answer");
    }

    @Override
    public void ended(IOException cause) {
        // The link is closed, so that an accept fails.
    }
}
