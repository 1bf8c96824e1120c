package lunar.rdma;

import java.net.InetSocketAddress;
import java.util.Objects;
import lunar.rdma.spi.ConnectionEvents;
import lunar.rdma.spi.EndpointSetup;
import lunar.rdma.spi.ProviderEndpoint;
import org.jspecify.annotations.Nullable;

/**
 * End of a connection: a send queue and a receive queue, to which operations are posted (a "queue pair", or the
 * "virtual interface" of VIA). Made by {@link EventChannel#createEndpoint} or {@link ConnectionRequest#createEndpoint}.
 *
 * <p>Operations of the send queue are performed in the order of posting; reads may complete after later operations
 * with some devices. An operation that fails ends the connection: the endpoint goes to state ERROR, and everything else
 * that is posted completes, as a rule as {@link CompletionStatus#FLUSHED}. Until an operation has completed its memory
 * belongs to the device, whatever the state of the endpoint.
 *
 * <p>Any thread may {@linkplain #post post} and {@linkplain #connect connect}; all else belongs to the thread of the
 * channel.
 */
public final class Endpoint implements AutoCloseable {
    /** Services of the channel for its endpoints. */
    interface Owner {
        /** The endpoint is connecting; {@link Endpoint#timeOut} is due when the time is over. */
        void connecting(Endpoint endpoint, int timeoutMs);

        /** Runs an event of the endpoint later, by the channel's thread. Any thread. */
        void later(Runnable event);

        void closed(Endpoint endpoint);
    }

    /** Makes the native endpoint. */
    @FunctionalInterface
    interface Factory {
        ProviderEndpoint create(EndpointSetup setup, ConnectionEvents events) throws RdmaException;
    }

    private static final System.Logger LOG = System.getLogger("lunar.rdma");

    private final Owner owner;
    private final DomainId domain;
    private final DeviceInfo device;
    private final EndpointOptions options;
    private final EndpointHandler handler;
    private final ProviderEndpoint provider;
    private final WorkQueue sends;
    private final WorkQueue receives;
    private volatile EndpointState state = EndpointState.IDLE;
    private volatile @Nullable InetSocketAddress peer;

    /**
     * @param domain identity of the protection domain
     */
    Endpoint(Owner owner, DomainId domain, DeviceInfo device, EndpointOptions options,
            EndpointHandler handler, Factory factory) throws RdmaException {
        this.owner = owner;
        this.domain = domain;
        this.device = device;
        this.options = options;
        this.handler = handler;
        requireLimits(device.limits());
        SharedReceiveQueue shared = options.sharedReceives();
        sends = new WorkQueue(this, options.sendDepth(), options.segments());
        receives = new WorkQueue(this, options.receiveDepth(), options.segments());
        options.sendQueue().add(sends, options.sendDepth());
        try {
            options.receiveQueue().add(receives, receiveRoom());
        } catch (RdmaException | RuntimeException e) {
            options.sendQueue().remove(sends, options.sendDepth());
            throw e;
        }
        try {
            provider = factory.create(new EndpointSetup(options.sendQueue().provider(),
                    options.receiveQueue().provider(),
                    shared == null ? null : shared.provider(), receives.identity(),
                    options.sendDepth(), options.receiveDepth(), options.segments(),
                    options.inlineBytes(), options.readDepth(), sends.identity()), new Events());
        } catch (RdmaException | RuntimeException e) {
            removeQueues();
            throw e;
        }
        sends.setRetiresEarlier(!provider.reportsUnsignalled());
        if (shared != null) {
            shared.users().incrementAndGet();
        }
    }

    private void requireLimits(DeviceLimits limits) {
        requireLimit("send depth", options.sendDepth(), limits.maxSendDepth());
        requireLimit("receive depth", options.receiveDepth(), limits.maxReceiveDepth());
        requireLimit("segments", options.segments(), limits.maxSegments());
        requireLimit("inline bytes", options.inlineBytes(), limits.maxInlineBytes());
    }

    private void requireLimit(String name, int wanted, int limit) {
        if (wanted > limit) {
            throw new IllegalArgumentException(
                    device.name() + " allows " + name + " up to " + limit + ", not " + wanted);
        }
    }

    /** A shared receive queue gives one endpoint all that it has, at worst. */
    private int receiveRoom() {
        SharedReceiveQueue shared = options.sharedReceives();
        return shared == null ? options.receiveDepth() : shared.depth();
    }

    public EndpointState state() { return state; }

    public EndpointOptions options() { return options; }

    /** Address of the other end; null before a connect. */
    public @Nullable InetSocketAddress peer() {
        return peer;
    }

    /** Number of sends, writes and reads that are posted and not polled yet. */
    public int postedSends() {
        return sends.posted();
    }

    /** Number of receives that are posted and not polled yet. */
    public int postedReceives() {
        return receives.posted();
    }

    /**
     * Starts to connect. The handler is told of the result; receives should be posted before.
     *
     * @param privateData goes to the peer's {@link ConnectionRequest}
     * @throws PrivateDataException if that is longer than the device can carry
     * @throws EndpointStateException if the endpoint has been connected before
     */
    public void connect(InetSocketAddress address, byte[] privateData) throws RdmaException {
        requirePrivateData(privateData, device.limits().maxConnectDataBytes());
        startConnecting(address);
        orFail(() -> provider.connect(address, privateData));
    }

    /** Accepts the request that this endpoint was made for. */
    void accept(InetSocketAddress from, byte[] privateData) throws RdmaException {
        requirePrivateData(privateData, device.limits().maxAcceptDataBytes());
        startConnecting(from);
        orFail(() -> provider.accept(privateData));
    }

    /** Starts to establish the connection. */
    @FunctionalInterface
    private interface Start {
        void run() throws RdmaException;
    }

    /** A failure that is known at once is reported like a later one. */
    private void orFail(Start start) {
        try {
            start.run();
        } catch (ConnectionException e) {
            owner.later(() -> failConnecting(e));
        } catch (RdmaException e) {
            owner.later(() -> failConnecting(new ConnectionException(
                    "no connection with " + peer + ": " + e.getMessage(),
                    ConnectionException.Reason.OTHER)));
        }
    }

    private void failConnecting(ConnectionException cause) {
        if (state == EndpointState.CONNECTING) {
            fail(cause);
        }
    }

    static void requirePrivateData(byte[] data, int maxBytes) throws PrivateDataException {
        if (data.length > maxBytes) {
            throw new PrivateDataException(data.length, maxBytes);
        }
    }

    private synchronized void startConnecting(InetSocketAddress to) throws EndpointStateException {
        if (state != EndpointState.IDLE) {
            throw new EndpointStateException("endpoint cannot connect in state " + state);
        }
        peer = to;
        state = EndpointState.CONNECTING;
        owner.connecting(this, options.connectTimeoutMs());
    }

    /**
     * Posts an operation.
     *
     * @throws QueueFullException if the queue is full
     * @throws EndpointStateException if the state does not permit the operation
     * @throws MemoryInUseException if memory of the request has been given back or deregistered
     * @throws IllegalArgumentException if the request exceeds a limit, or its memory is not registered for it
     * @throws UnsupportedOperationException if the device has no such operation
     */
    public void post(WorkRequest request) throws RdmaException {
        if (!tryPost(request)) {
            throw new QueueFullException(
                    (request.operation() == Operation.RECEIVE ? "receive" : "send")
                            + " queue to " + peer + " is full");
        }
    }

    /** Like {@link #post}, but returns false if the queue is full. */
    public boolean tryPost(WorkRequest request) throws RdmaException {
        requireValid(request);
        WorkQueue queue = request.operation() == Operation.RECEIVE ? receives : sends;
        queue.posting.lock();
        try {
            requireState(request.operation());
            if (queue.isFull()) {
                return false;
            }
            int number = queue.add(request);
            boolean posted = false;
            try {
                posted = provider.post(request, queue.id(number));
            } finally {
                if (!posted) {
                    queue.undo();
                }
            }
            return posted;
        } finally {
            queue.posting.unlock();
        }
    }

    private void requireState(Operation operation) throws EndpointStateException {
        EndpointState now = state;
        if (now != EndpointState.CONNECTED && (operation != Operation.RECEIVE
                || now == EndpointState.ERROR || now == EndpointState.CLOSED)) {
            throw new EndpointStateException(operation + " to " + peer + " in state " + now);
        }
    }

    private void requireValid(WorkRequest request) {
        Operation operation = request.operation();
        if (request.segments() > options.segments()) {
            throw new IllegalArgumentException(request.segments()
                    + " pieces of memory; the endpoint takes " + options.segments());
        }
        if (request.bytes() > device.limits().maxMessageBytes()) {
            throw new IllegalArgumentException(request.bytes() + " bytes; " + device.name()
                    + " takes " + device.limits().maxMessageBytes());
        }
        boolean writes = operation == Operation.RECEIVE || operation == Operation.READ;
        for (int i = 0; i < request.segments(); i++) {
            RegisteredMemory memory = request.memory(i);
            if (memory.domain() != domain) {
                throw new IllegalArgumentException("memory of another protection domain");
            }
            if (writes && !memory.isWritable()) {
                throw new IllegalArgumentException(
                        operation + " into memory without " + Access.LOCAL_WRITE);
            }
        }
        if (request.isInline() && (writes || request.bytes() > options.inlineBytes())) {
            throw new IllegalArgumentException(operation + " of " + request.bytes()
                    + " bytes inline; the endpoint takes " + options.inlineBytes());
        }
        if (operation == Operation.RECEIVE
                && (!request.isSignalled() || options.sharedReceives() != null)) {
            throw new IllegalArgumentException(request.isSignalled()
                    ? "receive for an endpoint that takes them from a shared queue"
                    : "receive that is not signalled");
        }
        if (operation == Operation.SEND_INVALIDATE
                && !device.capabilities().contains(Capability.SEND_WITH_INVALIDATE)) {
            throw new UnsupportedOperationException(device.name() + " cannot invalidate");
        }
    }

    /** The shared queue, for a completion that came from it. */
    SharedReceiveQueue shared() {
        return Objects.requireNonNull(options.sharedReceives());
    }

    /** An operation has failed: the connection ends, and the handler is told later. */
    void operationFailed() {
        if (state == EndpointState.CONNECTED) {
            enterError();
            owner.later(this::tellDisconnected);
        }
    }

    /** Calls the handler, if the endpoint is not closed meanwhile. */
    void tellDisconnected() {
        if (state == EndpointState.ERROR) {
            tell(() -> handler.disconnected(this));
        }
    }

    /** The time to connect is over. */
    void timeOut() {
        failConnecting(new ConnectionException("no connection with " + peer + " within "
                + options.connectTimeoutMs() + " ms", ConnectionException.Reason.TIMEOUT));
    }

    private void fail(ConnectionException cause) {
        enterError();
        tell(() -> handler.failed(this, cause));
    }

    private void tell(Runnable event) {
        try {
            event.run();
        } catch (RuntimeException e) {
            LOG.log(System.Logger.Level.ERROR, "handler of the endpoint to " + peer, e);
            enterError();
        }
    }

    /**
     * Ends all operations; they are reported as flushed, or as what became of them. What has come in before is reported
     * first.
     */
    private void enterError() {
        drain();
        if (changeTo(EndpointState.ERROR) && !provider.abort()) {
            drain();
            sends.flush(options.sendQueue());
            receives.flush(options.receiveQueue());
        }
    }

    private void drain() {
        try {
            options.sendQueue().drain();
            options.receiveQueue().drain();
        } catch (RdmaException e) {
            LOG.log(System.Logger.Level.WARNING, "completions of {0}: {1}", peer, e.toString());
        }
    }

    /** Changes the state while nothing is being posted; false if it is as late as that already. */
    private boolean changeTo(EndpointState later) {
        sends.posting.lock();
        receives.posting.lock();
        try {
            if (state.compareTo(later) >= 0) {
                return false;
            }
            state = later;
            return true;
        } finally {
            receives.posting.unlock();
            sends.posting.unlock();
        }
    }

    /**
     * Ends the connection. Operations that are posted complete as flushed, and the handler is told later. Does nothing
     * unless the endpoint is connected.
     */
    public void disconnect() {
        if (state == EndpointState.CONNECTED) {
            provider.disconnect();
            enterError();
            owner.later(this::tellDisconnected);
        }
    }

    /**
     * Ends the connection and frees the endpoint. When it returns, the device accesses no memory for this endpoint any
     * more; operations that were not polled are dropped without a report, and their memory is released. The handler is
     * not told. Receives of a shared queue that the endpoint has taken are still reported. Idempotent.
     */
    @Override
    public void close() {
        EndpointState before = state;
        if (!changeTo(EndpointState.CLOSED)) {
            return;
        }
        if (before == EndpointState.CONNECTED) {
            provider.disconnect();
        }
        if (before != EndpointState.ERROR) {
            provider.abort();
        }
        SharedReceiveQueue shared = options.sharedReceives();
        if (shared != null) {
            provider.awaitLastReceive();
            drain(); // some devices drop what is in the queue when an endpoint is freed
        }
        provider.close();
        if (shared != null) {
            drain();
            options.receiveQueue().keep(receives);
            shared.users().decrementAndGet();
        }
        sends.drop();
        receives.drop();
        removeQueues();
        owner.closed(this);
    }

    private void removeQueues() {
        options.sendQueue().remove(sends, options.sendDepth());
        options.receiveQueue().remove(receives, receiveRoom());
    }

    @Override
    public String toString() { return "endpoint to " + peer + ", " + state; }

    /** Handles the provider's reports about the connection. */
    private final class Events implements ConnectionEvents {
        @Override
        public void established(byte[] privateData) {
            if (state == EndpointState.CONNECTING) {
                state = EndpointState.CONNECTED;
                tell(() -> handler.established(Endpoint.this, privateData));
            }
        }

        @Override
        public void failed(ConnectionException cause) { failConnecting(cause); }

        @Override
        public void disconnected() {
            switch (state) {
                case CONNECTED -> {
                    enterError();
                    tellDisconnected();
                }
                case CONNECTING -> fail(new ConnectionException("connection with " + peer
                        + " ended while it was established", ConnectionException.Reason.LOST));
                case IDLE, ERROR, CLOSED -> {
                }
            }
        }
    }
}
