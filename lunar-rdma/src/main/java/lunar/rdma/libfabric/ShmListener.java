package lunar.rdma.libfabric;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import lunar.rdma.ConnectionException;
import lunar.rdma.spi.ListenerEvents;
import lunar.rdma.spi.ProviderListener;
import org.jspecify.annotations.Nullable;

/** Listens for connection requests on a port of the loopback interface. */
final class ShmListener implements ProviderListener {
    private static final System.Logger LOG = System.getLogger("lunar.rdma");

    /** Timeout for the request of a peer that has connected. */
    static final long SILENCE_MS = 10_000;
    /** Most peers that have connected but not yet sent their request. */
    private static final int MAX_SILENT = 64;

    private final ShmChannel channel;
    private final ListenerEvents events;
    private final ServerSocketChannel server;
    private final InetSocketAddress address;
    private final Set<Caller> silent = new HashSet<>();

    ShmListener(ShmChannel channel, InetSocketAddress at, int backlog, ListenerEvents events)
            throws ConnectionException {
        this.channel = channel;
        this.events = events;
        requireLoopback(at, ConnectionException.Reason.ADDRESS_NOT_LOCAL);
        ServerSocketChannel opened = null;
        try {
            opened = ServerSocketChannel.open();
            opened.bind(at, backlog);
            address = (InetSocketAddress) opened.getLocalAddress();
            channel.register(opened, SelectionKey.OP_ACCEPT, this);
            server = opened;
        } catch (IOException e) {
            close(opened);
            throw new ConnectionException("cannot listen on " + at + ": " + e.getMessage(),
                    e instanceof BindException
                            ? ConnectionException.Reason.ADDRESS_IN_USE
                            : ConnectionException.Reason.OTHER);
        }
    }

    /** Requires a loopback address, since shared memory only reaches this machine. */
    static void requireLoopback(InetSocketAddress at, ConnectionException.Reason reason)
            throws ConnectionException {
        if (at.isUnresolved() || !at.getAddress().isLoopbackAddress()) {
            throw new ConnectionException(
                    at + ": shared memory takes addresses of the loopback interface", reason);
        }
    }

    private static void close(@Nullable ServerSocketChannel server) {
        try {
            if (server != null) {
                server.close();
            }
        } catch (IOException e) {
            LOG.log(System.Logger.Level.WARNING, "listener: {0}", e.toString());
        }
    }

    @Override
    public InetSocketAddress address() { return address; }

    /** Accepts pending connections. */
    void accept() {
        try {
            for (SocketChannel socket; (socket = server.accept()) != null;) {
                if (silent.size() >= MAX_SILENT) {
                    socket.close();
                    continue;
                }
                try {
                    socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
                    var caller = new Caller(socket);
                    silent.add(caller);
                    channel.register(socket, SelectionKey.OP_READ, caller.link);
                } catch (IOException e) {
                    socket.close();
                }
            }
        } catch (IOException e) {
            LOG.log(System.Logger.Level.WARNING, "listener on {0}: {1}", address, e.toString());
        }
    }

    boolean hasSilent() { return !silent.isEmpty(); }

    /** Closes connections that have not sent a request in time. */
    void closeSilent() {
        if (!silent.isEmpty()) {
            long now = System.nanoTime();
            for (Caller caller : List.copyOf(silent)) {
                if (now - caller.deadline > 0) {
                    caller.link.close();
                    silent.remove(caller);
                }
            }
        }
    }

    @Override
    public void close() {
        channel.remove(this);
        close(server);
        silent.forEach(caller -> caller.link.close());
        silent.clear();
        channel.forgetClosed();
    }

    /** A peer that has connected but not yet sent its request. */
    private final class Caller implements ShmLink.User {
        private final ShmLink link;
        private final long deadline = System.nanoTime()
                + TimeUnit.MILLISECONDS.toNanos(SILENCE_MS);

        Caller(SocketChannel socket) { link = new ShmLink(socket, this); }

        @Override
        public void connected() { throw new AssertionError("it has connected before"); }

        @Override
        public void received(ShmMessage message) throws IOException {
            if (message.kind() != ShmMessage.Kind.REQUEST) {
                throw new IOException(message.kind() + " as first message");
            }
            var address = (InetSocketAddress) link.socket().getRemoteAddress();
            ShmPeer peer = ShmPeer.open(message, channel.domain().boardName());
            silent.remove(this);
            var request = new ShmRequest(channel, link, peer, address);
            link.use(request);
            events.requested(request);
        }

        @Override
        public void ended(IOException cause) {
            silent.remove(this);
            LOG.log(System.Logger.Level.DEBUG, "peer at {0}: {1}", address, cause.getMessage());
        }
    }
}
