package lunar.rdma.libfabric;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.rdma.CompletionStatus;
import lunar.rdma.ConnectionException;
import lunar.rdma.Operation;
import lunar.rdma.ProviderException;
import lunar.rdma.RdmaException;
import lunar.rdma.WorkRequest;
import lunar.rdma.posix.ProcessMemory;
import lunar.rdma.spi.ConnectionEvents;
import lunar.rdma.spi.EndpointSetup;
import lunar.rdma.spi.ProviderEndpoint;
import lunar.rdma.spi.RawCompletions;
import org.jspecify.annotations.Nullable;

/**
 * An endpoint of shm that is connected to one peer. {@link ShmNatives} has the connectionless endpoint of libfabric,
 * and {@link ShmLink} the TCP connection that makes it a connected one.
 *
 * <p>RDMA operations are performed while they are posted, by the posting thread, which copies between the processes
 * ({@link ShmPeer#copy}); behind messages that wait for room, by the thread that polls. libfabric would do the same,
 * but with a lock held that other processes wait for: one that is killed then would stop them for good. Messages go
 * through libfabric.
 */
final class ShmEndpoint implements ProviderEndpoint, ShmLink.User {
    /** Longer messages stay in the sender's memory until the receiver has copied them. */
    private static final int LONG_MESSAGE_BYTES = 4096;
    private static final VarHandle POSTED;

    static {
        try {
            POSTED = MethodHandles.lookup().findVarHandle(ShmEndpoint.class, "posted", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /**
     * An operation that is posted later, since libfabric had no room for it or for one before it.
     *
     * @param bytes of an inline request; null for others
     */
    private record Waiting(WorkRequest request, long id, @Nullable MemorySegment bytes) {}

    private final ShmChannel channel;
    /** Identity of the send queue, the upper half of the ids of its operations. */
    private final int sendId;
    private final ConnectionEvents events;
    private final ShmQueue sendQueue;
    private final ShmQueue receiveQueue;
    private final MemorySegment memory;
    /** This side's place on its board. */
    private final ShmBoard.Connection connection;
    private final ShmNatives natives;
    private final CompletionReader.Source sends;
    private final CompletionReader.Source receives;
    private final Transfers transfers;
    private final ProcessMemory copier;

    private volatile @Nullable ShmLink link;
    /** Private data of a request that has not been answered. */
    private byte[] requestData = new byte[0];
    private volatile @Nullable ShmPeer peer;
    /** Whether libfabric has the address of the peer's endpoint. */
    private volatile boolean isAttached;
    private volatile boolean isAborted;
    /** Whether an operation of the send queue has failed here: none that follows it is performed. */
    private volatile boolean isBroken;
    /** Whether this side has requested the connection. */
    private volatile boolean isActive;
    /** Whether {@link #progress} checks if the peer can be sent to; for the channel's thread. */
    private boolean isProbing;
    private volatile boolean isEstablished;
    /** Whether an operation has failed that libfabric does not name: the connection ends. */
    private boolean isLost;

    /** Guarded by itself. */
    private final ArrayDeque<Waiting> backlog = new ArrayDeque<>();
    private volatile boolean hasBacklog;
    /**
     * Number of messages that have been passed to libfabric; written while posting. {@link #ring} has a fence between
     * this write and the check whether the channel's thread sleeps; that thread reads the number before it sleeps.
     */
    private int posted;
    /** Number of messages that have been sent; written by the thread that polls. */
    private int completed;
    /** Which of the messages that are posted are long, by the lower bits of their ids. */
    private final boolean[] areLong;
    private final AtomicInteger longMessages = new AtomicInteger();

    ShmEndpoint(ShmChannel channel, EndpointSetup setup, ConnectionEvents events)
            throws ProviderException {
        this.channel = channel;
        sendId = setup.sendId();
        this.events = events;
        sendQueue = (ShmQueue) setup.sendQueue();
        receiveQueue = (ShmQueue) setup.receiveQueue();
        ShmDomain domain = channel.domain();
        connection = domain.takeConnection();
        memory = domain.fabric().takeScratch();
        boolean opened = false;
        try {
            natives = sendQueue == receiveQueue
                    ? new ShmNatives(domain.fabric(), setup.sendDepth() + setup.receiveDepth(), 0)
                    : new ShmNatives(domain.fabric(), setup.sendDepth(), setup.receiveDepth());
            opened = true;
        } finally {
            if (!opened) {
                domain.fabric().giveScratch(memory);
                domain.giveConnection(connection, true);
            }
        }
        sends = natives.sends();
        receives = natives.receives();
        transfers = new Transfers(natives.endpoint(), 0, memory); // the peer will be the first of the vector
        copier = new ProcessMemory(memory.asSlice(2 * Scratch.BYTES, FabricDomain.COPIER_BYTES));
        areLong = new boolean[Integer.highestOneBit(Math.max(1, 2 * setup.sendDepth() - 1))];
        sendQueue.add(this);
        if (receiveQueue != sendQueue) {
            receiveQueue.add(this);
        }
    }

    /** Prepares to accept a request. */
    void answer(ShmLink from, ShmPeer requester) {
        link = from;
        peer = requester;
        from.use(this);
    }

    @Override
    public void connect(InetSocketAddress address, byte[] privateData) throws RdmaException {
        ShmListener.requireLoopback(address, ConnectionException.Reason.UNREACHABLE);
        isActive = true;
        requestData = privateData;
        SocketChannel socket = null;
        try {
            socket = SocketChannel.open();
            socket.configureBlocking(false);
            socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
            var made = new ShmLink(socket, this);
            link = made;
            boolean isConnected = socket.connect(address);
            if (isConnected) {
                connected();
            }
            channel.register(socket,
                    isConnected ? SelectionKey.OP_READ : SelectionKey.OP_CONNECT, made);
        } catch (IOException e) {
            closeLink();
            throw failure(e);
        }
    }

    private void closeLink() {
        ShmLink used = link;
        if (used != null) {
            used.close();
        }
    }

    private ConnectionException failure(IOException cause) {
        ConnectionException.Reason reason = switch (cause) {
            case ConnectException _ -> ConnectionException.Reason.REFUSED;
            case ShmPeer.PeerException _ -> ConnectionException.Reason.PROTOCOL;
            default -> ConnectionException.Reason.LOST;
        };
        return new ConnectionException("no connection: " + cause, reason);
    }

    private ShmMessage message(ShmMessage.Kind kind, byte[] data) {
        return new ShmMessage(kind, natives.name(), channel.domain().boardName(), channel.slot(),
                connection, data);
    }

    private ShmPeer peer() {
        ShmPeer known = peer;
        if (known == null) {
            throw new IllegalStateException("no peer");
        }
        return known;
    }

    private ShmLink link() {
        ShmLink used = link;
        if (used == null) {
            throw new IllegalStateException("no link");
        }
        return used;
    }

    @Override
    public void connected() throws IOException {
        link().send(message(ShmMessage.Kind.REQUEST, requestData));
    }

    @Override
    public void accept(byte[] privateData) throws RdmaException {
        try {
            attach();
            link().send(message(ShmMessage.Kind.ACCEPT, privateData));
        } catch (IOException e) {
            closeLink();
            throw failure(e);
        }
    }

    /** Makes the peer known to libfabric, and lets it access memory. */
    private void attach() throws IOException {
        ShmMessage from = peer().message();
        channel.domain().setPeer(connection, peer().process());
        boolean isLocal = from.board().startsWith(ShmDomain.BOARD_PREFIX);
        if (!natives.insert(from.endpoint(), isLocal)) {
            throw new ShmPeer.PeerException("libfabric rejects the address of the peer");
        }
        isAttached = true;
    }

    @Override
    public void received(ShmMessage message) throws IOException {
        if (isAborted) {
            return;
        }
        boolean isFirst = !isAttached;
        if (isActive && isFirst && message.kind() == ShmMessage.Kind.ACCEPT) {
            peer = ShmPeer.open(message, channel.domain().boardName());
            attach();
            isProbing = true;
        } else if (isActive && isFirst && message.kind() == ShmMessage.Kind.REJECT) {
            closeLink();
            events.failed(new ConnectionException("the peer rejects the connection",
                    ConnectionException.Reason.REJECTED, message.data()));
        } else if (!isFirst && !isProbing && !isEstablished
                && message.kind() == ShmMessage.Kind.READY) {
            if (isActive) {
                establish(peer().message().data());
            } else {
                isProbing = true;
            }
        } else {
            throw new ShmPeer.PeerException("unexpected " + message.kind());
        }
    }

    /**
     * Continues the set-up of the connection. An endpoint of libfabric can send only after the peer's endpoint has
     * answered, which it does only while it is polled. An empty RDMA write, which has no effect at the peer, tests
     * whether it has.
     */
    void progress() {
        try {
            if (isAborted) {
                return; // the handler of another endpoint has just closed it
            }
            natives.progress();
            if (isProbing) {
                if (transfers.probe()) {
                    isProbing = false;
                    link().send(ShmMessage.of(ShmMessage.Kind.READY, new byte[0]));
                    if (!isActive) {
                        establish(new byte[0]);
                    }
                } // otherwise try again soon: both sides sleep only briefly while they connect
            }
        } catch (IOException e) {
            closeLink();
            ended(e);
        }
    }

    boolean isConnecting() { return !isAborted && !isEstablished && isAttached; }

    private void establish(byte[] data) {
        isEstablished = true;
        link().startBell();
        events.established(data);
    }

    @Override
    public void ended(IOException cause) {
        if (!isAborted) {
            if (isEstablished) {
                events.disconnected();
            } else {
                events.failed(failure(cause));
            }
        }
    }

    @Override
    public boolean post(WorkRequest request, long id) throws RdmaException {
        boolean isPosted = true;
        if (request.operation() == Operation.RECEIVE) {
            isPosted = transfers.post(request, id);
        } else if (hasBacklog || !send(request, id, null)) {
            wait(request, id);
        }
        if (request.operation() != Operation.READ && request.operation() != Operation.WRITE) {
            // libfabric may have completed it at once, under the lock that a poll of its queue takes as well.
            channel.wakeSleeping();
        }
        return isPosted;
    }

    private void wait(WorkRequest request, long id) {
        synchronized (backlog) {
            if (!hasBacklog) {
                hasBacklog = true;
                channel.backlogStarted();
            }
            backlog.add(new Waiting(request.copy(), id,
                    request.isInline() ? bytes(request) : null));
        }
        channel.wakeup(); // the current sleep may be too long
    }

    /** Returns a copy of the bytes of an inline request. */
    private static MemorySegment bytes(WorkRequest request) {
        MemorySegment copy = Arena.ofAuto().allocate(request.bytes());
        long at = 0;
        for (int i = 0; i < request.segments(); i++) {
            MemorySegment.copy(Memory.at(request.address(i), request.length(i)), 0, copy, at,
                    request.length(i));
            at += request.length(i);
        }
        return copy;
    }

    /** Posts operations that libfabric had no room for, as far as it has room now. */
    void postBacklog() {
        if (!hasBacklog) {
            return;
        }
        synchronized (backlog) {
            while (!backlog.isEmpty() && !isAborted) {
                Waiting next = backlog.peek();
                try {
                    if (!send(next.request(), next.id(), next.bytes())) {
                        return;
                    }
                } catch (ProviderException e) {
                    refuse(next.id(), CompletionStatus.PROVIDER_ERROR, e.code());
                }
                backlog.remove();
            }
            endBacklog();
        }
    }

    private void endBacklog() {
        if (hasBacklog) {
            hasBacklog = false;
            backlog.clear();
            channel.backlogEnded();
        }
    }

    /**
     * Performs an operation of the send queue, or passes it to libfabric; returns false if there is no room.
     *
     * @param bytes copied from the memory of an inline request; null to take them from there
     */
    private boolean send(WorkRequest request, long id, @Nullable MemorySegment bytes)
            throws ProviderException {
        if (isBroken) {
            refuse(id, CompletionStatus.FLUSHED, 0);
            return true;
        }
        return switch (request.operation()) {
            case READ, WRITE -> {
                copy(request, id, bytes);
                yield true;
            }
            case SEND, SEND_INVALIDATE, RECEIVE -> sendMessage(request, id, bytes);
        };
    }

    private void copy(WorkRequest request, long id, @Nullable MemorySegment bytes) {
        int pieces = request.segments();
        if (bytes == null) {
            for (int i = 0; i < pieces; i++) {
                copier.piece(i, request.address(i), request.length(i));
            }
        } else {
            pieces = 1;
            copier.piece(0, bytes.address(), bytes.byteSize());
        }
        int error = peer().copy(request, copier, pieces);
        if (error == 0) {
            sendQueue.end(id, CompletionStatus.SUCCESS, 0);
        } else {
            refuse(id, status(error), error);
        }
    }

    private static CompletionStatus status(int error) {
        return switch (error) {
            case Numbers.EKEYREJECTED, Numbers.EFAULT -> CompletionStatus.REMOTE_ACCESS_ERROR;
            case Numbers.ESHUTDOWN, Numbers.ESRCH -> CompletionStatus.PEER_LOST;
            default -> CompletionStatus.PROVIDER_ERROR;
        };
    }

    private boolean sendMessage(WorkRequest request, long id, @Nullable MemorySegment bytes)
            throws ProviderException {
        boolean isLong = request.bytes() > LONG_MESSAGE_BYTES;
        int count = posted + 1;
        areLong[(int) id & (areLong.length - 1)] = isLong;
        if (isLong) {
            longMessages.incrementAndGet();
        }
        POSTED.setOpaque(this, count);
        boolean given = false;
        try {
            given = bytes == null ? transfers.post(request, id) : transfers.send(bytes, id);
        } finally {
            if (!given) {
                POSTED.setOpaque(this, count - 1);
                if (isLong) {
                    longMessages.decrementAndGet();
                }
            }
        }
        ring(); // even if there was no room: libfabric first needs an answer of the peer
        return given;
    }

    private void refuse(long id, CompletionStatus status, int code) {
        isBroken = true;
        sendQueue.end(id, status, code);
    }

    /** Reads completions for a queue of this endpoint. */
    void read(ShmQueue queue, CompletionReader reader, RawCompletions into)
            throws ProviderException {
        int first = into.size();
        boolean isSending = queue == sendQueue;
        reader.read(isSending ? sends : receives, into);
        int end = into.size();
        for (int i = first; i < end; i++) {
            long id = into.id(i);
            // Send and receive queues have ids of their own, which may be equal in two completion queues.
            if (isSending && (int) (id >>> Integer.SIZE) == sendId) {
                completed++;
                if (areLong[(int) id & (areLong.length - 1)]) {
                    longMessages.decrementAndGet();
                }
            } else if (id == 0 && into.status(i) != CompletionStatus.SUCCESS) {
                isLost = true; // no operation has this id; the probe has, and succeeds
                channel.wakeup();
            } else if (into.bytes(i) > LONG_MESSAGE_BYTES) {
                receivedLong(into, i);
            }
        }
    }

    private void receivedLong(RawCompletions into, int at) {
        if (peer().isDelivered()) {
            ring(); // the peer waits for the end of its send
        } else { // the peer has closed its endpoint before this side copied what it had sent, or while it did
            into.fail(at, CompletionStatus.PEER_LOST);
        }
    }

    private void ring() {
        VarHandle.fullFence(); // the peer's thread sees what was posted, or this one sees it sleep
        if (peer().takeSleep()) {
            link().ring();
        }
    }

    /** Ends the connection if libfabric has reported an error that belongs to no operation. */
    void endIfLost() {
        if (isLost) {
            isLost = false;
            closeLink();
            ended(new IOException("libfabric reported an error that belongs to no operation"));
        }
    }

    /** Whether operations may complete without a wake-up by the peer. */
    boolean needsPolling() {
        return hasBacklog || (int) POSTED.getOpaque(this) != completed || isConnecting();
    }

    @Override
    public boolean reportsUnsignalled() { return true; }

    @Override
    public void disconnect() {
        // The peer is notified by the end of the link, which follows.
    }

    @Override
    public boolean abort() {
        isAborted = true;
        synchronized (backlog) {
            endBacklog();
        }
        channel.remove(this);
        channel.domain().giveConnection(connection, longMessages.get() == 0);
        closeLink();
        sendQueue.remove(this);
        receiveQueue.remove(this);
        natives.done();
        return false;
    }

    @Override
    public void close() {
        ShmPeer known = peer;
        if (known != null) {
            known.close();
        }
        channel.domain().fabric().giveScratch(memory);
    }
}
