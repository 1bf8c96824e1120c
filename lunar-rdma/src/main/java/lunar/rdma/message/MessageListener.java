package lunar.rdma.message;

import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import lunar.rdma.ConnectionException;
import lunar.rdma.ConnectionHandler;
import lunar.rdma.ConnectionRequest;
import lunar.rdma.EventChannel;
import lunar.rdma.Listener;
import lunar.rdma.ProtectionDomain;
import lunar.rdma.RdmaException;
import org.jspecify.annotations.Nullable;

/**
 * Accepts connections for {@link Messenger}s, which other threads may use. For use by one thread at a time;
 * {@link #wakeup} by any.
 */
public final class MessageListener implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("lunar.rdma");

    private final ProtectionDomain domain;
    private final MessengerOptions options;
    private final EventChannel channel;
    private final Listener listener;
    private final ArrayDeque<ConnectionRequest> requests = new ArrayDeque<>();
    private volatile boolean isWoken;
    private @Nullable RdmaException failure;

    /**
     * @param domain remains the caller's, which closes it after the listener and its messengers
     * @param address port 0 picks a free one
     */
    public MessageListener(ProtectionDomain domain, InetSocketAddress address,
            MessengerOptions options) throws RdmaException {
        this.domain = domain;
        this.options = options;
        channel = domain.openChannel();
        boolean listening = false;
        try {
            listener = channel.listen(address, new Events());
            listening = true;
        } finally {
            if (!listening) {
                channel.close();
            }
        }
    }

    private final class Events implements ConnectionHandler {
        @Override
        public void requested(ConnectionRequest request) { requests.add(request); }

        @Override
        public void failed(RdmaException cause) { failure = cause; }
    }

    /** The address, with the port that was picked. */
    public InetSocketAddress address() {
        return listener.address();
    }

    /**
     * Accepts a connection. A peer that goes away meanwhile is passed over.
     *
     * @param timeoutMs 0 for no limit
     * @return null when the time is over, or after {@link #wakeup}
     */
    public @Nullable Messenger accept(long timeoutMs) throws RdmaException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        while (true) {
            ConnectionRequest request = requests.poll();
            if (request != null) {
                try {
                    return Messenger.accept(domain, request, options, new byte[0]);
                } catch (ConnectionException e) {
                    LOG.log(System.Logger.Level.DEBUG, "request of {0}: {1}", request.peer(),
                            e.getMessage());
                }
            } else if (failure != null) {
                throw failure;
            } else {
                long left = 0;
                if (timeoutMs > 0) {
                    left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime() + 999_999);
                    if (left <= 0) {
                        return null;
                    }
                }
                channel.await(left);
                if (requests.isEmpty() && isWoken) {
                    isWoken = false;
                    return null;
                }
            }
        }
    }

    /** Ends the {@link #accept} that is under way; without one, the next that finds no request returns at once. */
    public void wakeup() {
        isWoken = true;
        channel.wakeup();
    }

    /** Stops listening; messengers that were accepted remain. Idempotent. */
    @Override
    public void close() { channel.close(); }
}
