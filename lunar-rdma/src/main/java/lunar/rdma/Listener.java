package lunar.rdma;

import java.net.InetSocketAddress;
import java.util.function.Consumer;
import lunar.rdma.spi.ProviderListener;

/**
 * Listens for connection requests on a local address; created by {@link EventChannel#listen}. For the thread of that
 * channel; the caller of {@code listen} closes it.
 */
public final class Listener implements AutoCloseable {
    private final ProviderListener provider;
    private final Consumer<Listener> closed;
    private boolean isClosed;

    Listener(ProviderListener provider, Consumer<Listener> closed) {
        this.provider = provider;
        this.closed = closed;
    }

    /** Returns the local address, with the actual port. */
    public InetSocketAddress address() {
        return provider.address();
    }

    /** Stops listening. Requests that have been reported can still be accepted or rejected. Idempotent. */
    @Override
    public void close() {
        if (!isClosed) {
            isClosed = true;
            provider.close();
            closed.accept(this);
        }
    }
}
