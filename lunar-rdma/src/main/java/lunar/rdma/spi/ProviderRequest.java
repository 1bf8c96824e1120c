package lunar.rdma.spi;

import java.net.InetSocketAddress;
import lunar.rdma.RdmaException;

/** Connection request of a peer. Either one endpoint is created for it, or it is rejected. */
public interface ProviderRequest {
    InetSocketAddress peer();

    /** Returns the private data of the peer's connect; may be padded with zeros. */
    byte[] privateData();

    /**
     * Creates the endpoint that {@link ProviderEndpoint#accept} will connect.
     *
     * @param channel channel that reports the connection's events from now on: the one that has reported the request,
     *        or another one of the domain, which another thread may run
     */
    ProviderEndpoint createEndpoint(ProviderChannel channel, EndpointSetup setup,
            ConnectionEvents events) throws RdmaException;

    /** Rejects the request; it is not an error if the peer has given up. */
    void reject(byte[] privateData) throws RdmaException;
}
