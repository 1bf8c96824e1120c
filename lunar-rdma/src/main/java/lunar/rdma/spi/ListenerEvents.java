package lunar.rdma.spi;

import lunar.rdma.RdmaException;

/** Events of a listener, reported by {@link ProviderChannel#poll}. */
public interface ListenerEvents {
    void requested(ProviderRequest request);

    /** The listener does not work any more. */
    void failed(RdmaException cause);
}
