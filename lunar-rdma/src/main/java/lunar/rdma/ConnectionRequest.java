package lunar.rdma;

import java.net.InetSocketAddress;
import java.util.function.Consumer;
import lunar.rdma.spi.ProviderRequest;
import org.jspecify.annotations.Nullable;

/**
 * Connection request of a peer. To accept it, create its endpoint, post receives, and accept:
 *
 * <pre>{@code
 * Endpoint endpoint = request.createEndpoint(EndpointOptions.of(queue), handler);
 * endpoint.post(work.receive().add(pool.take()));
 * request.accept(privateData);
 * }</pre>
 *
 * <p>For the thread of the channel that reported it.
 */
public final class ConnectionRequest {
    private static final System.Logger LOG = System.getLogger("lunar.rdma");

    private final ProviderRequest provider;
    private final DeviceLimits limits;
    private final EventChannel channel;
    private final Consumer<ConnectionRequest> answered;
    private @Nullable Endpoint endpoint;
    private boolean isRejected;

    /**
     * @param channel channel that reported the request
     * @param answered called once the request has an endpoint or is rejected
     */
    ConnectionRequest(ProviderRequest provider, DeviceLimits limits, EventChannel channel,
            Consumer<ConnectionRequest> answered) {
        this.provider = provider;
        this.limits = limits;
        this.channel = channel;
        this.answered = answered;
    }

    public InetSocketAddress peer() { return provider.peer(); }

    /**
     * Returns the private data of the peer's connect, which may be padded with zeros to a fixed length. Untrusted
     * input.
     */
    public byte[] privateData() { return provider.privateData(); }

    /**
     * Creates the endpoint that {@link #accept} will connect. The caller owns it; closing it before the accept ends the
     * request.
     */
    public Endpoint createEndpoint(EndpointOptions options, EndpointHandler handler)
            throws RdmaException {
        return createEndpoint(channel, options, handler);
    }

    /**
     * Like {@link #createEndpoint(EndpointOptions, EndpointHandler)}, but for another channel of the protection domain.
     * The connection belongs to the thread of that channel from now on, except for the call of {@link #accept}.
     *
     * @param home channel that will report the events of the connection
     */
    public Endpoint createEndpoint(EventChannel home, EndpointOptions options,
            EndpointHandler handler) throws RdmaException {
        if (endpoint != null || isRejected) {
            throw new EndpointStateException(
                    "request of " + peer() + " has been answered already");
        }
        Endpoint made = home.createEndpoint(options, handler, provider);
        endpoint = made;
        answered.accept(this);
        return made;
    }

    /**
     * Accepts the request with the endpoint that was created for it. The endpoint's handler is notified when the
     * connection is established.
     *
     * @param privateData passed to {@link EndpointHandler#established} of the peer
     * @throws PrivateDataException if the private data are longer than the device can carry
     */
    public void accept(byte[] privateData) throws RdmaException {
        if (endpoint == null) {
            throw new EndpointStateException("request of " + peer() + " has no endpoint");
        }
        endpoint.accept(peer(), privateData);
    }

    /**
     * Rejects the request.
     *
     * @param privateData passed to the peer in {@link ConnectionException#privateData}
     * @throws PrivateDataException if the private data are longer than the device can carry
     */
    public void reject(byte[] privateData) throws RdmaException {
        Endpoint.requirePrivateData(privateData, limits.maxRejectDataBytes());
        if (endpoint != null || isRejected) {
            throw new EndpointStateException(
                    "request of " + peer() + " has been answered already");
        }
        isRejected = true;
        answered.accept(this);
        provider.reject(privateData);
    }

    /** Rejects the request unless it has an endpoint or has been rejected already. For use in a finally clause. */
    public void rejectIfUnanswered() {
        if (endpoint == null && !isRejected) {
            try {
                reject(new byte[0]);
            } catch (RdmaException e) {
                LOG.log(System.Logger.Level.DEBUG, "cannot reject the request of {0}: {1}", peer(),
                        e.toString());
            }
        }
    }
}
