package lunar.rdma;

import java.net.InetSocketAddress;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import lunar.rdma.spi.ConnectionEvents;
import lunar.rdma.spi.EndpointSetup;
import lunar.rdma.spi.ProviderEndpoint;
import org.jspecify.annotations.Nullable;

/**
 * One end of a reliable connection: a send queue and a receive queue, to which operations are posted (the queue pair of
 * InfiniBand, the virtual interface of VIA). Created by {@link EventChannel#createEndpoint} or
 * {@link ConnectionRequest#createEndpoint}.
 *
 * <p>Operations of the send queue are performed and complete in the order in which they were posted. An operation that
 * fails ends the connection: the endpoint enters state ERROR, and all other posted operations complete, usually as
 * {@link CompletionStatus#FLUSHED}. Until an operation has completed, its memory belongs to the device, whatever the
 * state of the endpoint.
 *
 * <p>Any thread may {@linkplain #post post} and {@linkplain #connect connect}; all other methods are for the thread of
 * the channel.
 */
public final class Endpoint implements AutoCloseable {
    /** Services of the channel for its endpoints. */
    interface Owner {
        /** Starts the connection timeout of the endpoint: calls {@link Endpoint#timeOut} when it expires. */
        void connecting(Endpoint endpoint, int timeoutMs);

        /** Queues an event of the endpoint for the channel's thread. Any thread. */
        void later(Runnable event);

        void closed(Endpoint endpoint);
    }

    /** Creates the native endpoint. */
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
    private final int maxSegments;
    private final long maxMessageBytes;
    private final boolean usesSharedReceives;
    private volatile EndpointState state = EndpointState.IDLE;
    private volatile @Nullable InetSocketAddress peer;
    /** Held while the provider starts to connect, which any thread may ask for, or ends the connection. */
    private final ReentrantLock starting = new ReentrantLock();

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
        usesSharedReceives = shared != null;
        maxSegments = options.segments();
        maxMessageBytes = device.limits().maxMessageBytes();
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
        sends.setReportsAll(provider.reportsUnsignalled());
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

    /** In the worst case, one endpoint takes all receives of a shared receive queue. */
    private int receiveRoom() {
        SharedReceiveQueue shared = options.sharedReceives();
        return shared == null ? options.receiveDepth() : shared.depth();
    }

    public EndpointState state() { return state; }

    public EndpointOptions options() { return options; }

    /** Address of the peer; null until the endpoint connects or accepts. */
    public @Nullable InetSocketAddress peer() {
        return peer;
    }

    /** Number of posted sends, writes and reads whose completions have not been polled. */
    public int postedSends() {
        return sends.posted();
    }

    /** Number of posted receives whose completions have not been polled. */
    public int postedReceives() {
        return receives.posted();
    }

    /**
     * Starts to connect. The handler is notified of the result. Post receives before, so that the peer can send at
     * once.
     *
     * @param privateData passed to the peer in its {@link ConnectionRequest}
     * @throws PrivateDataException if the private data are longer than the device can carry
     * @throws EndpointStateException if the endpoint has been connected before
     */
    public void connect(InetSocketAddress address, byte[] privateData) throws RdmaException {
        requirePrivateData(privateData, device.limits().maxConnectDataBytes());
        startConnecting(address);
        orFail(() -> provider.connect(address, privateData));
    }

    /** Accepts the request that this endpoint was created for. */
    void accept(InetSocketAddress from, byte[] privateData) throws RdmaException {
        requirePrivateData(privateData, device.limits().maxAcceptDataBytes());
        startConnecting(from);
        orFail(() -> provider.accept(privateData));
    }

    /** Call of the provider that starts to establish the connection. */
    @FunctionalInterface
    private interface Start {
        void run() throws RdmaException;
    }

    /** Reports a failure that is known at once to the handler, like a later one. */
    private void orFail(Start start) {
        starting.lock();
        try {
            if (state == EndpointState.CONNECTING) { // it may be closed meanwhile
                start.run();
            }
        } catch (ConnectionException e) {
            owner.later(() -> failConnecting(e));
        } catch (RdmaException e) {
            owner.later(() -> failConnecting(new ConnectionException(
                    "no connection with " + peer + ": " + e.getMessage(),
                    ConnectionException.Reason.OTHER)));
        } finally {
            starting.unlock();
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

    private void startConnecting(InetSocketAddress to) throws EndpointStateException {
        sends.posting.lock();
        try {
            if (state != EndpointState.IDLE) {
                throw new EndpointStateException("endpoint cannot connect in state " + state);
            }
            peer = to;
            state = EndpointState.CONNECTING;
        } finally {
            sends.posting.unlock();
        }
        owner.connecting(this, options.connectTimeoutMs());
    }

    /**
     * Posts an operation.
     *
     * @throws QueueFullException if the queue is full
     * @throws EndpointStateException if the state of the endpoint does not permit the operation
     * @throws MemoryInUseException if memory of the request has been given back or deregistered
     * @throws IllegalArgumentException if the request exceeds a limit, or its memory is not registered for this use
     * @throws UnsupportedOperationException if the device does not support the operation
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
        int segments = request.segments();
        if (segments > maxSegments || request.bytes() > maxMessageBytes) {
            throw tooLong(request);
        }
        boolean writes = operation == Operation.RECEIVE || operation == Operation.READ;
        for (int i = 0; i < segments; i++) {
            RegisteredMemory memory = request.memory(i);
            if (memory.domain() != domain || (writes && !memory.isWritable())) {
                throw notRegistered(operation, memory);
            }
        }
        if (request.isInline()) {
            requireInline(request, writes);
        }
        if (operation == Operation.RECEIVE
                && (!request.isSignalled() || usesSharedReceives)) {
            throw new IllegalArgumentException(request.isSignalled()
                    ? "receive for an endpoint that uses a shared receive queue"
                    : "unsignalled receive");
        }
        if (operation == Operation.SEND_INVALIDATE
                && !device.capabilities().contains(Capability.SEND_WITH_INVALIDATE)) {
            throw new UnsupportedOperationException(
                    device.name() + " does not support Send with Invalidate");
        }
    }

    private IllegalArgumentException tooLong(WorkRequest request) {
        return new IllegalArgumentException(request.segments() > maxSegments
                ? request.segments() + " memory segments; the endpoint takes " + maxSegments
                : request.bytes() + " bytes; " + device.name() + " takes " + maxMessageBytes);
    }

    private IllegalArgumentException notRegistered(Operation operation, RegisteredMemory memory) {
        return new IllegalArgumentException(memory.domain() != domain
                ? "memory of another protection domain"
                : operation + " into memory without " + Access.LOCAL_WRITE);
    }

    private void requireInline(WorkRequest request, boolean writes) {
        if (writes || request.bytes() > options.inlineBytes()) {
            throw new IllegalArgumentException(request.operation() + " of " + request.bytes()
                    + " bytes inline; the endpoint takes " + options.inlineBytes());
        }
    }

    /** The shared receive queue, for a completion of one of its receives. */
    SharedReceiveQueue shared() {
        return Objects.requireNonNull(options.sharedReceives());
    }

    /** Ends the connection after an operation has failed; the handler is notified later. */
    void operationFailed() {
        if (state == EndpointState.CONNECTED) {
            enterError();
            owner.later(this::tellDisconnected);
        }
    }

    /** Notifies the handler, unless the endpoint has been closed meanwhile. */
    void tellDisconnected() {
        if (state == EndpointState.ERROR) {
            tell(() -> handler.disconnected(this));
        }
    }

    /** Fails the connection attempt, whose timeout has expired. */
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
            LOG.log(System.Logger.Level.ERROR, "handler of the endpoint to " + peer + " failed",
                    e);
            enterError();
        }
    }

    /**
     * Ends all posted operations; they are reported as flushed, or with the result that they had. Completions that the
     * device has reported before come first.
     */
    private void enterError() {
        drain();
        if (changeTo(EndpointState.ERROR) && !abort()) {
            drain();
            sends.flush(options.sendQueue());
            receives.flush(options.receiveQueue());
        }
    }

    /** Calls {@link ProviderEndpoint#abort}, after a connect or accept that another thread has begun. */
    private boolean abort() {
        starting.lock();
        try {
            return provider.abort();
        } finally {
            starting.unlock();
        }
    }

    private void drain() {
        try {
            options.sendQueue().drain();
            options.receiveQueue().drain();
        } catch (RdmaException e) {
            LOG.log(System.Logger.Level.WARNING,
                    "cannot poll completions of the endpoint to {0}: {1}", peer, e.toString());
        }
    }

    /** Advances the state while nothing is being posted; returns false if that or a later state is reached already. */
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
     * Ends the connection. Posted operations complete as flushed, and the handler is notified later. Does nothing
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
     * Ends the connection and frees the endpoint. When this method returns, the device no longer accesses memory for
     * the endpoint; completions that have not been polled are dropped, and the memory of their operations is released.
     * The handler is not notified. Receives of a shared queue that the endpoint has taken are still reported.
     * Idempotent.
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
            boolean _ = abort();
        }
        SharedReceiveQueue shared = options.sharedReceives();
        if (shared != null) {
            provider.awaitLastReceive();
            drain(); // some devices drop the completions of an endpoint when it is freed
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
                        + " lost during set-up", ConnectionException.Reason.LOST));
                case IDLE, ERROR, CLOSED -> {
                }
            }
        }
    }
}
