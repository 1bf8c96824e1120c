package lunar.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import lunar.rdma.ConnectionException;
import lunar.rdma.ConnectionException.Reason;
import lunar.rdma.Operation;
import lunar.rdma.ProviderException;
import lunar.rdma.RdmaException;
import lunar.rdma.WorkRequest;
import lunar.rdma.posix.SocketAddresses;
import lunar.rdma.spi.ConnectionEvents;
import lunar.rdma.spi.EndpointSetup;
import lunar.rdma.spi.ProviderEndpoint;
import org.jspecify.annotations.Nullable;

/**
 * An id of librdmacm with its queue pair. A connecting endpoint gets the queue pair as soon as the address has led to a
 * device, and keeps receives until then; an accepting one has it from the start.
 *
 * <pre>
 * connect: resolve address, create queue pair, resolve route, connect, ESTABLISHED
 * accept:  create queue pair, accept, ESTABLISHED
 * </pre>
 */
final class VerbsEndpoint implements ProviderEndpoint, IdOwner, DeviceEvents.Owner {
    /** Longest search for a device and route; the caller has a time limit of its own for the whole. */
    private static final int RESOLVE_MS = 30_000;
    /** Longest wait for the last shared receive; soft-RoCE of older kernels does not report it. */
    private static final long LAST_RECEIVE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final System.Logger LOG = System.getLogger("lunar.rdma");

    private final VerbsChannel channel;
    private final NativeDomain domain;
    private final CmCalls cm;
    private final long id;
    private final EndpointSetup setup;
    private final ConnectionEvents events;
    private final ReadDepth reads;
    private final SendSlot sendSlot;
    private final ReceiveSlots receiveSlot;

    /** Receives posted before there is a queue pair. Guarded by this, as is the change of {@link #queuePair}. */
    private @Nullable ReceiveSlots kept;
    /** Address of the struct ibv_qp; 0 before there is one. */
    private volatile long queuePair;
    private volatile @Nullable InetSocketAddress peer;
    private volatile byte[] privateData = {};
    private boolean isAccepting;
    private boolean isConnecting = true;
    private boolean isAborted;
    /** Whether the device takes no more shared receives for the queue pair, which is then in the error state. */
    private volatile boolean hasLastReceive;

    /** Creates an endpoint for a connect, which owns the id. */
    VerbsEndpoint(VerbsChannel channel, long id, EndpointSetup setup, ConnectionEvents events,
            ReadDepth reads) {
        this.channel = channel;
        this.id = id;
        this.setup = setup;
        this.events = events;
        this.reads = reads;
        domain = channel.domain();
        cm = domain.cm();
        sendSlot = new SendSlot(setup.segments());
        receiveSlot = new ReceiveSlots(1, setup.segments());
        channel.put(id, this);
    }

    /** Creates an endpoint for an accept, which owns the id unless this fails. */
    static VerbsEndpoint ofRequest(VerbsChannel channel, long id, EndpointSetup setup,
            ConnectionEvents events, ReadDepth reads) throws RdmaException {
        var endpoint = new VerbsEndpoint(channel, id, setup, events, reads);
        try {
            endpoint.peer = CmId.peerAddress(id);
            endpoint.createQueuePair();
            return endpoint;
        } catch (RdmaException e) {
            channel.remove(id);
            throw e;
        }
    }

    /** Address of the struct ibv_qp; 0 while there is none. */
    long queuePair() {
        return queuePair;
    }

    @Override
    public void connect(InetSocketAddress address, byte[] data) throws RdmaException {
        ConnectFailures.requireResolved(address);
        peer = address;
        privateData = data.clone();
        try (Arena arena = Arena.ofConfined()) {
            cm.resolveAddress(id, 0, SocketAddresses.write(address, arena).address(), RESOLVE_MS);
        } catch (ProviderException e) {
            throw ConnectFailures.ofCall(address, e);
        }
    }

    @Override
    public void accept(byte[] data) throws RdmaException {
        isAccepting = true;
        try {
            withParameters(data, cm::accept);
        } catch (ProviderException e) {
            throw ConnectFailures.ofCall(peer, e);
        }
    }

    @Override
    public void handle(CmEvent event) {
        if (isAborted) {
            return;
        }
        try {
            switch (event.type()) {
                case Constants.RDMA_CM_EVENT_ADDR_RESOLVED -> addressResolved();
                case Constants.RDMA_CM_EVENT_ROUTE_RESOLVED ->
                    withParameters(privateData, cm::connect);
                case Constants.RDMA_CM_EVENT_ESTABLISHED -> {
                    isConnecting = false;
                    events.established(isAccepting ? new byte[0] : event.privateData());
                }
                case Constants.RDMA_CM_EVENT_ADDR_CHANGE, Constants.RDMA_CM_EVENT_TIMEWAIT_EXIT -> {
                }
                default -> ended(event);
            }
        } catch (ProviderException e) {
            fail(ConnectFailures.ofCall(peer, e));
        } catch (ConnectionException e) {
            fail(e);
        }
    }

    private void addressResolved() throws ProviderException, ConnectionException {
        if (CmId.context(id) != domain.context()) {
            throw new ConnectionException("no connection with " + peer + ": not reachable through "
                    + domain.deviceName(), Reason.UNREACHABLE);
        }
        createQueuePair();
        cm.resolveRoute(id, RESOLVE_MS);
    }

    /** Handles a failure or the end of the connection. */
    private void ended(CmEvent event) {
        if (isConnecting) {
            fail(ConnectFailures.ofEvent(peer, event));
        } else {
            events.disconnected();
        }
    }

    @Override
    public void deviceEvent(int type) {
        switch (type) {
            case Constants.IBV_EVENT_QP_LAST_WQE_REACHED -> hasLastReceive = true;
            case Constants.IBV_EVENT_COMM_EST -> channel.later(this::messageArrived);
            default -> channel.later(() -> deviceFailed(type));
        }
    }

    @Override
    public boolean uses(long queue) {
        return sendQueue().address() == queue || receiveQueue().address() == queue
                || (setup.shared() instanceof VerbsReceiveQueue shared
                        && shared.address() == queue);
    }

    /** Establishes the connection, since a message has arrived before the peer's answer. */
    private void messageArrived() {
        if (!isAborted) {
            try {
                cm.notify(id, Constants.IBV_EVENT_COMM_EST);
            } catch (ProviderException _) {
                // the connection is established already
            }
        }
    }

    private void deviceFailed(int event) {
        if (!isAborted) {
            LOG.log(System.Logger.Level.WARNING,
                    "connection with {0} ends: event {1} of device {2}", peer, event,
                    domain.deviceName());
            if (isConnecting) {
                fail(new ConnectionException("no connection with " + peer + ": event " + event
                        + " of device " + domain.deviceName(), Reason.OTHER));
            } else {
                events.disconnected();
            }
        }
    }

    private void fail(ConnectionException cause) {
        isConnecting = false;
        events.failed(cause);
    }

    /** A call that takes the address of a struct rdma_conn_param. */
    @FunctionalInterface
    private interface ParameterCall {
        void run(long id, long parameters) throws ProviderException;
    }

    private void withParameters(byte[] data, ParameterCall call) throws ProviderException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment parameters = arena.allocate(AttributeLayouts.CONNECTION);
            ConnectionParameters.write(parameters, reads, setup.shared() != null,
                    arena.allocateFrom(JAVA_BYTE, data));
            call.run(id, parameters.address());
        }
    }

    private void createQueuePair() throws ProviderException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(AttributeLayouts.QP_INIT);
            attributes.set(JAVA_LONG, AttributeLayouts.QP_INIT_SEND_CQ, sendQueue().address());
            attributes.set(JAVA_LONG, AttributeLayouts.QP_INIT_RECV_CQ, receiveQueue().address());
            if (setup.shared() instanceof VerbsReceiveQueue shared) {
                attributes.set(JAVA_LONG, AttributeLayouts.QP_INIT_SRQ, shared.address());
            }
            attributes.set(JAVA_INT, AttributeLayouts.QP_INIT_MAX_SEND_WR, setup.sendDepth());
            attributes.set(JAVA_INT, AttributeLayouts.QP_INIT_MAX_RECV_WR, setup.receiveDepth());
            attributes.set(JAVA_INT, AttributeLayouts.QP_INIT_MAX_SEND_SGE, setup.segments());
            attributes.set(JAVA_INT, AttributeLayouts.QP_INIT_MAX_RECV_SGE, setup.segments());
            attributes.set(JAVA_INT, AttributeLayouts.QP_INIT_MAX_INLINE_DATA,
                    setup.inlineBytes());
            attributes.set(JAVA_INT, AttributeLayouts.QP_INIT_QP_TYPE, Constants.IBV_QPT_RC);
            cm.createQueuePair(id, domain.address(), attributes.address());
        }
        long created = CmId.queuePair(id);
        domain.events().put(created, this);
        if (setup.shared() != null) {
            receiveQueue().takers().put(CmId.number(created), setup.sharedId());
        }
        synchronized (this) {
            try {
                postKept(created);
            } finally {
                queuePair = created;
            }
        }
    }

    private synchronized void postKept(long pair) throws ProviderException {
        ReceiveSlots slots = kept;
        kept = null;
        if (slots != null && !DataPath.isPosted("ibv_post_recv",
                domain.dataPath().postReceive(pair, slots.address(), slots.bad()))) {
            throw Errno.failure("ibv_post_recv", Constants.ENOMEM);
        }
    }

    private VerbsQueue sendQueue() { return (VerbsQueue) setup.sendQueue(); }

    private VerbsQueue receiveQueue() { return (VerbsQueue) setup.receiveQueue(); }

    @Override
    public boolean post(WorkRequest request, long number) throws ProviderException {
        if (request.operation() != Operation.RECEIVE) {
            sendSlot.set(request, number);
            return DataPath.isPosted("ibv_post_send", domain.dataPath().postSend(queuePair,
                    sendSlot.address(), sendSlot.bad()));
        }
        if (queuePair == 0) {
            synchronized (this) {
                if (queuePair == 0) {
                    return keep(request, number);
                }
            }
        }
        receiveSlot.set(request, number);
        return DataPath.isPosted("ibv_post_recv", domain.dataPath().postReceive(queuePair,
                receiveSlot.address(), receiveSlot.bad()));
    }

    private synchronized boolean keep(WorkRequest request, long number) {
        ReceiveSlots slots = kept;
        if (slots == null) {
            slots = new ReceiveSlots(setup.receiveDepth(), setup.segments());
            kept = slots;
        }
        return slots.add(request, number);
    }

    @Override
    public boolean reportsUnsignalled() { return false; }

    @Override
    public void disconnect() {
        try {
            cm.disconnect(id);
        } catch (ProviderException _) {
            // there is no connection any more
        }
    }

    /** Moves the queue pair to the error state, in which the device flushes both queues. */
    @Override
    public boolean abort() {
        isAborted = true;
        if (queuePair == 0) {
            return false;
        }
        if (isAccepting || !isConnecting) {
            disconnect(); // also answers the peer's disconnect
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(AttributeLayouts.QP);
            attributes.set(JAVA_INT, AttributeLayouts.QP_STATE, Constants.IBV_QPS_ERR);
            domain.verbs().modify(queuePair, attributes.address(), Constants.IBV_QP_STATE);
            return true;
        } catch (ProviderException _) {
            destroyQueuePair(); // the last resort to end all access to memory
            return false;
        }
    }

    /** Waits for the event that reports the last receive of the queue pair (InfiniBand Architecture 10.3.1). */
    @Override
    public void awaitLastReceive() {
        long end = System.nanoTime() + LAST_RECEIVE_NANOS;
        try {
            while (queuePair != 0 && !hasLastReceive && System.nanoTime() - end < 0) {
                domain.events().read();
                if (!hasLastReceive) {
                    LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(50));
                }
            }
        } catch (ProviderException e) {
            LOG.log(System.Logger.Level.WARNING, "events of {0}: {1}", domain.deviceName(),
                    e.getMessage());
        }
    }

    private void destroyQueuePair() {
        long pair = queuePair;
        if (pair != 0) {
            queuePair = 0;
            domain.events().remove(pair);
            if (setup.shared() != null) {
                receiveQueue().takers().retire(CmId.number(pair));
            }
            cm.destroyQueuePair(id);
        }
    }

    @Override
    public void close() {
        channel.remove(id);
        destroyQueuePair();
        Closing.quietly(() -> cm.destroyId(id));
    }
}
