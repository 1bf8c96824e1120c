package lunar.rdma.spi;

import lunar.rdma.RdmaException;

/** Events of a listener, reported by {@link ProviderChannel#poll}. */
public interface ListenerEvents {
    /** A peer requests a connection. */
    void requested(ProviderRequest request);

    /** The listener has failed, and reports no further requests. */
    void failed(RdmaException cause);
}
