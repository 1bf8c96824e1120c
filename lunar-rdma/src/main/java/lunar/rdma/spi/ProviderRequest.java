package lunar.rdma.spi;

import java.net.InetSocketAddress;
import lunar.rdma.RdmaException;

/** A peer's request to connect. Either one endpoint is created for it, or it is rejected. */
public interface ProviderRequest {
    InetSocketAddress peer();

    /** Private data of the connect; may be padded with zeros. */
    byte[] privateData();

    /** Makes the endpoint that {@link ProviderEndpoint#accept} will connect. */
    ProviderEndpoint createEndpoint(EndpointSetup setup, ConnectionEvents events)
            throws RdmaException;

    /** Rejects the request; a peer that has gone away is no error. */
    void reject(byte[] privateData) throws RdmaException;
}
