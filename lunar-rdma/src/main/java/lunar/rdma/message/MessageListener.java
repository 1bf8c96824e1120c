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
 * Accepts connections and returns a {@link Messenger} for each, which another thread may use. For one thread at a time;
 * {@link #wakeup} may be called by any thread.
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
     * @param domain open device, which the caller closes after the listener and its messengers
     * @param address address to listen on; port 0 picks a free port
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

    /** Returns the local address, with the actual port. */
    public InetSocketAddress address() {
        return listener.address();
    }

    /**
     * Waits for a connection request and accepts it. Skips a request whose peer gives up meanwhile.
     *
     * @param timeoutMs timeout in milliseconds; 0 for none
     * @return null if the timeout expires, or after {@link #wakeup}
     */
    public @Nullable Messenger accept(long timeoutMs) throws RdmaException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        while (true) {
            ConnectionRequest request = requests.poll();
            if (request != null) {
                try {
                    return Messenger.accept(domain, request, options, new byte[0]);
                } catch (ConnectionException e) {
                    LOG.log(System.Logger.Level.DEBUG, "connection of {0} not established: {1}",
                            request.peer(),
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

    /** Makes the current or, if there is none, the next {@link #accept} return at once, unless there is a request. */
    public void wakeup() {
        isWoken = true;
        channel.wakeup();
    }

    /** Stops listening. Messengers that have been accepted remain open. Idempotent. */
    @Override
    public void close() { channel.close(); }
}
