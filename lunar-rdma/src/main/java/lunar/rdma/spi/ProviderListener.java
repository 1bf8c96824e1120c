package lunar.rdma.spi;

import java.net.InetSocketAddress;

/** A local address that is listened on. */
public interface ProviderListener extends AutoCloseable {
    /** The address, with the port that was picked. */
    InetSocketAddress address();

    /** Stops listening; requests that were reported can still be accepted or rejected. */
    @Override
    void close();
}
