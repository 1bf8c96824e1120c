package lunar.rdma.spi;

import java.net.InetSocketAddress;
import lunar.rdma.RdmaException;

/** A peer's request to connect. Either one endpoint is created for it, or it is rejected. */
public interface ProviderRequest {
    InetSocketAddress peer();

    /** Private data of the connect; may be padded with zeros. */
    byte[] privateData();

    /**
     * Makes the endpoint that {@link ProviderEndpoint#accept} will connect.
     *
     * @param channel reports its events from now on: the channel that has reported the request, or another one of the
     *        domain, which may be run by another thread
     */
    ProviderEndpoint createEndpoint(ProviderChannel channel, EndpointSetup setup,
            ConnectionEvents events) throws RdmaException;

    /** Rejects the request; a peer that has gone away is no error. */
    void reject(byte[] privateData) throws RdmaException;
}
