package lunar.rdma;

import java.net.InetSocketAddress;
import java.util.function.Consumer;
import lunar.rdma.spi.ProviderListener;

/** A local address that is listened on; made by {@link EventChannel#listen}, belongs to the thread of that channel. */
public final class Listener implements AutoCloseable {
    private final ProviderListener provider;
    private final Consumer<Listener> closed;
    private boolean isClosed;

    Listener(ProviderListener provider, Consumer<Listener> closed) {
        this.provider = provider;
        this.closed = closed;
    }

    /** The address, with the port that was picked. */
    public InetSocketAddress address() {
        return provider.address();
    }

    /** Stops listening; requests that were reported can still be accepted or rejected. Idempotent. */
    @Override
    public void close() {
        if (!isClosed) {
            isClosed = true;
            provider.close();
            closed.accept(this);
        }
    }
}
