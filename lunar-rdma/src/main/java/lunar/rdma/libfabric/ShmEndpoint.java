package lunar.rdma.libfabric;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lunar.rdma.CompletionStatus;
import lunar.rdma.ConnectionException;
import lunar.rdma.Operation;
import lunar.rdma.ProviderException;
import lunar.rdma.RdmaException;
import lunar.rdma.WorkRequest;
import lunar.rdma.spi.ConnectionEvents;
import lunar.rdma.spi.EndpointSetup;
import lunar.rdma.spi.ProviderEndpoint;
import lunar.rdma.spi.RawCompletions;
import org.jspecify.annotations.Nullable;

/**
 * An endpoint of shm that is connected to one peer. {@link ShmNatives} has the connectionless endpoint of libfabric,
 * and {@link ShmLink} the TCP connection that makes it a connected one.
 *
 * <p>RDMA operations are performed while they are posted, by the posting thread: libfabric copies between the
 * processes. {@link ShmBoard#beginAccess} checks the remote key before.
 */
final class ShmEndpoint implements ProviderEndpoint, ShmLink.User {
    /** Longer messages stay in the sender's memory until the receiver has copied them. */
    private static final int LONG_MESSAGE_BYTES = 4096;
    private static final Pattern NAME = Pattern
            .compile("fi_shm://(?<file>(?<pid>[0-9]{1,18}):[0-9]+:[0-9]+)\0?");
    private static final Path FOLDER = Path.of("/dev/shm");

    /** An operation that is posted again later, since libfabric had no room for it. */
    private record Waiting(WorkRequest request, long id) {}

    private final ShmChannel channel;
    private final EndpointSetup setup;
    private final ConnectionEvents events;
    private final ShmQueue sendQueue;
    private final ShmQueue receiveQueue;
    private final MemorySegment memory;
    /** This side's place on its board. */
    private final ShmBoard.Connection connection;
    private final ShmNatives natives;
    private final Transfers transfers;

    private volatile @Nullable ShmLink link;
    private volatile @Nullable ShmMessage peer;
    private volatile @Nullable ShmBoard peerBoard;
    private volatile boolean isAborted;
    /** Whether an operation of the send queue has failed here: none that follows it is performed. */
    private volatile boolean isBroken;
    /** Whether this side has requested the connection. */
    private volatile boolean isActive;
    /** Whether {@link #progress} checks if the peer can be sent to; for the channel's thread. */
    private boolean isProbing;
    private volatile boolean isEstablished;

    /** Guarded by itself. */
    private final ArrayDeque<Waiting> backlog = new ArrayDeque<>();
    private volatile boolean hasBacklog;
    /** Number of send queue operations that have been passed to libfabric; written while posting. */
    private volatile int posted;
    /** Number of send queue operations that have completed; written by the thread that polls. */
    private int completed;

    ShmEndpoint(ShmChannel channel, EndpointSetup setup, ConnectionEvents events)
            throws ProviderException {
        this.channel = channel;
        this.setup = setup;
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
        // The peer will be the first of the vector. With FI_DELIVERY_COMPLETE, the peer's libfabric would copy later,
        // when no access protects its memory any more.
        transfers = new Transfers(natives.endpoint(), 0, memory, true);
        sendQueue.add(this);
        if (receiveQueue != sendQueue) {
            receiveQueue.add(this);
        }
    }

    /** Prepares to accept a request. */
    void answer(ShmLink from, ShmMessage request) {
        link = from;
        peer = request;
        from.use(this);
    }

    @Override
    public void connect(InetSocketAddress address, byte[] privateData) throws RdmaException {
        ShmListener.requireLoopback(address, ConnectionException.Reason.UNREACHABLE);
        isActive = true;
        peer = ShmMessage.of(ShmMessage.Kind.REQUEST, privateData); // ours, until the answer
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
            case PeerException _ -> ConnectionException.Reason.PROTOCOL;
            default -> ConnectionException.Reason.LOST;
        };
        return new ConnectionException("no connection: " + cause, reason);
    }

    /** Signals that the peer violates the set-up protocol, or cannot be reached by shared memory. */
    private static final class PeerException extends IOException {
        private static final long serialVersionUID = 1;

        PeerException(String message) { super(message); }
    }

    private ShmMessage message(ShmMessage.Kind kind, byte[] data) {
        return new ShmMessage(kind, natives.name(), channel.domain().boardName(), channel.slot(),
                connection, data);
    }

    private ShmMessage peer() {
        ShmMessage known = peer;
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
        link().send(message(ShmMessage.Kind.REQUEST, peer().data()));
    }

    @Override
    public void accept(byte[] privateData) throws RdmaException {
        try {
            attach(peer());
            link().send(message(ShmMessage.Kind.ACCEPT, privateData));
        } catch (IOException e) {
            closeLink();
            throw failure(e);
        }
    }

    /** Opens the shared memory of the peer. */
    private void attach(ShmMessage from) throws IOException {
        Matcher matcher = NAME.matcher(from.endpoint());
        if (!matcher.matches() || !ShmBoard.NAME.matcher(from.board()).matches()) {
            throw new PeerException("the peer sent invalid names of its shared memory");
        }
        if (!from.board().startsWith(ShmDomain.boardPrefix(matcher.group("pid")))) {
            throw new PeerException("the peer names shared memory of two processes");
        }
        requireSameUser(matcher.group("file"));
        requireSameUser(from.board());
        ShmBoard board = ShmBoard.open(from.board());
        if (!board.isOpen(from.connection())) {
            board.close();
            throw new PeerException("the peer names shared memory that is not its own");
        }
        peerBoard = board;
        boolean isLocal = from.board().startsWith(ShmDomain.BOARD_PREFIX);
        if (!natives.insert(from.endpoint(), isLocal)) {
            throw new PeerException("libfabric rejects the address of the peer");
        }
    }

    /** Requires that the peer runs as the same user: files of others could have any contents. */
    private void requireSameUser(String file) throws IOException {
        var own = Files.getOwner(FOLDER.resolve(channel.domain().boardName()));
        if (!Files.getOwner(FOLDER.resolve(file), LinkOption.NOFOLLOW_LINKS).equals(own)) {
            throw new PeerException("the peer belongs to another user");
        }
    }

    @Override
    public void received(ShmMessage message) throws IOException {
        if (isAborted) {
            return;
        }
        boolean isFirst = peerBoard == null;
        if (isActive && isFirst && message.kind() == ShmMessage.Kind.ACCEPT) {
            attach(message);
            peer = message;
            isProbing = true;
        } else if (isActive && isFirst && message.kind() == ShmMessage.Kind.REJECT) {
            closeLink();
            events.failed(new ConnectionException("the peer rejects the connection",
                    ConnectionException.Reason.REJECTED, message.data()));
        } else if (!isFirst && !isProbing && !isEstablished
                && message.kind() == ShmMessage.Kind.READY) {
            if (isActive) {
                establish(peer().data());
            } else {
                isProbing = true;
            }
        } else {
            throw new PeerException("unexpected " + message.kind());
        }
    }

    /**
     * Continues the set-up of the connection. An endpoint of libfabric can send only after the peer's endpoint has
     * answered, which that does while it is polled; an empty RDMA write, which has no effect at the peer, tests this.
     */
    void progress() {
        try {
            natives.progress();
            if (isProbing && !isAborted) {
                if (transfers.probe()) {
                    isProbing = false;
                    link().send(ShmMessage.of(ShmMessage.Kind.READY, new byte[0]));
                    if (!isActive) {
                        establish(new byte[0]);
                    }
                } // otherwise again soon: while they connect, both sides sleep shortly
            }
        } catch (IOException e) {
            closeLink();
            ended(e);
        }
    }

    boolean isConnecting() { return !isEstablished && peerBoard != null; }

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
        if (request.operation() == Operation.RECEIVE) {
            return transfers.post(request, id);
        }
        if (hasBacklog || !send(request, id)) {
            wait(request, id);
        }
        return true;
    }

    private void wait(WorkRequest request, long id) {
        synchronized (backlog) {
            if (!hasBacklog) {
                hasBacklog = true;
                channel.backlogStarted();
            }
            backlog.add(new Waiting(request.copy(), id));
        }
        channel.wakeup(); // the current sleep may be too long
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
                    if (!send(next.request(), next.id())) {
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

    /** Passes an operation of the send queue to libfabric; returns false if there is no room. */
    private boolean send(WorkRequest request, long id) throws ProviderException {
        if (isBroken) {
            refuse(id, CompletionStatus.FLUSHED, 0);
            return true;
        }
        ShmBoard board = peerBoard;
        if (board == null) {
            throw new IllegalStateException("not connected");
        }
        ShmMessage other = peer();
        int count = posted + 1;
        posted = count;
        boolean given = false;
        try {
            given = switch (request.operation()) {
                case READ -> access(board, other.connection(), request, id, ShmBoard.READABLE);
                case WRITE -> access(board, other.connection(), request, id, ShmBoard.WRITABLE);
                case SEND, SEND_INVALIDATE, RECEIVE -> transfers.post(request, id);
            };
        } finally {
            if (!given) {
                posted = count - 1;
            }
        }
        ring(); // even if there was no room: libfabric first needs an answer of the peer
        return given;
    }

    private boolean access(ShmBoard board, ShmBoard.Connection of, WorkRequest request, long id,
            int right) {
        if (!board.beginAccess(of, request.remoteKey(), request.remoteAddress(), request.bytes(),
                right)) {
            refuse(id, CompletionStatus.REMOTE_ACCESS_ERROR, Numbers.EKEYREJECTED);
            return true;
        }
        try {
            return transfers.post(request, id);
        } catch (ProviderException e) {
            // the peer or its memory no longer exists
            refuse(id, CompletionStatus.REMOTE_ACCESS_ERROR, e.code());
        } finally {
            board.endAccess(of);
        }
        return true;
    }

    private void refuse(long id, CompletionStatus status, int code) {
        isBroken = true;
        sendQueue.refuse(id, status, code);
    }

    /** Reads completions for a queue of this endpoint. */
    void read(ShmQueue queue, CompletionReader reader, RawCompletions into)
            throws ProviderException {
        int first = into.size();
        reader.read(queue == sendQueue ? natives.sends() : natives.receives(), into);
        for (int i = first; i < into.size(); i++) {
            // Send and receive queues have ids of their own, which may be equal in two completion queues.
            if (queue == sendQueue && (int) (into.id(i) >>> Integer.SIZE) == setup.sendId()) {
                completed++;
            } else if (into.bytes(i) > LONG_MESSAGE_BYTES) {
                receivedLong(into, i);
            }
        }
    }

    private void receivedLong(RawCompletions into, int at) {
        ShmBoard board = peerBoard;
        if (board != null && board.isDelivered(peer().connection())) {
            ring(); // the peer waits for the end of its send
        } else { // the peer has closed its endpoint before this side copied what it had sent, or while it did
            into.fail(at, CompletionStatus.PEER_LOST);
        }
    }

    private void ring() {
        ShmBoard board = peerBoard;
        if (board != null && board.takeSleeping(peer().channel())) {
            link().ring();
        }
    }

    /** Whether operations may complete without a wake-up by the peer. */
    boolean needsPolling() {
        return hasBacklog || posted != completed || isConnecting();
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
        channel.domain().giveConnection(connection, posted == completed);
        closeLink();
        sendQueue.remove(this);
        receiveQueue.remove(this);
        natives.done();
        return false;
    }

    @Override
    public void close() {
        ShmBoard board = peerBoard;
        if (board != null) {
            board.close();
            Matcher matcher = NAME.matcher(peer().endpoint());
            if (matcher.matches()) {
                ShmBoard.deleteIfOrphaned(Long.parseLong(matcher.group("pid")),
                        matcher.group("file"), peer().board());
            }
        }
        channel.domain().fabric().giveScratch(memory);
    }
}
