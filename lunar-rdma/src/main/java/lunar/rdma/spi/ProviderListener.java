package lunar.rdma.spi;

import java.net.InetSocketAddress;

/** Listens for connection requests on a local address. */
public interface ProviderListener extends AutoCloseable {
    /** Returns the local address, with the actual port. */
    InetSocketAddress address();

    /** Stops listening. Requests that have been reported can still be accepted or rejected. */
    @Override
    void close();
}
