package lunar.iser;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import lunar.iscsi.framing.PduReceiver;
import lunar.iscsi.spi.EventLoop;
import lunar.iscsi.spi.Transport;
import lunar.iscsi.spi.TransportProvider;
import lunar.iser.connection.Home;
import lunar.iser.connection.IserTransport;
import lunar.iser.wire.ConnectData;
import lunar.rdma.ConnectionException;
import lunar.rdma.ConnectionHandler;
import lunar.rdma.ConnectionRequest;
import lunar.rdma.Endpoint;
import lunar.rdma.Listener;
import lunar.rdma.RdmaException;
import org.jspecify.annotations.Nullable;

/**
 * Listens on a portal over RDMA. Its connections run on the event loop that listens, since an endpoint belongs to the
 * channel that reports its request.
 */
final class IserListener implements TransportProvider.Listener, ConnectionHandler {
    private static final System.Logger LOG = System.getLogger("lunar.iser");
    private static final int TIMEOUT_MS = 15_000;

    /** Most connections that are accepted but not established: each has buffers, and any peer can request one. */
    static final int MAX_PENDING = 64;

    private final DeviceLoops loops;
    private final IserSource source;
    private final Function<Transport, PduReceiver> receiver;
    private final CompletableFuture<Listener> listener = new CompletableFuture<>();

    // For the thread of the event loop only.
    private final Set<IserTransport> pending = new HashSet<>();
    /** Whether a failure has been logged as a warning since the last accepted connection. */
    private boolean hasWarned;

    private IserListener(DeviceLoops loops, Function<Transport, PduReceiver> receiver) {
        this.loops = loops;
        this.receiver = receiver;
        source = loops.nextSource();
    }

    static IserListener open(DeviceLoops loops, InetSocketAddress portal,
            Function<Transport, PduReceiver> receiver) throws IOException {
        var made = new IserListener(loops, receiver);
        made.source.loop().execute(() -> made.begin(portal));
        try {
            Listener _ = made.listener.join();
            return made;
        } catch (CompletionException e) {
            if (e.getCause() instanceof ConnectionException refused
                    && refused.reason() == ConnectionException.Reason.ADDRESS_IN_USE) {
                var bind = new BindException("Address already in use");
                bind.initCause(refused);
                throw bind;
            }
            throw e.getCause() instanceof IOException io
                    ? io
                    : new IOException("cannot listen on " + portal, e);
        }
    }

    private void begin(InetSocketAddress portal) {
        try {
            listener.complete(source.channel().listen(portal, this));
        } catch (RdmaException | RuntimeException e) {
            listener.completeExceptionally(e);
        }
    }

    @Override
    public void requested(ConnectionRequest request) {
        source.happened();
        try {
            if (pending.size() < MAX_PENDING) {
                accept(request);
                hasWarned = false;
            } else {
                warn(request, pending.size() + " connections are still being established");
                request.reject(new byte[0]);
            }
        } catch (RdmaException e) {
            warn(request, e.getMessage());
        }
    }

    /** Logs a failure, as a warning only the first time: a full device, for example, would flood the log. */
    private void warn(ConnectionRequest request, @Nullable String why) {
        LOG.log(hasWarned ? System.Logger.Level.DEBUG : System.Logger.Level.WARNING,
                "connection of {0} not accepted: {1}", request.peer(), why);
        hasWarned = true;
    }

    private void accept(ConnectionRequest request) throws RdmaException {
        ConnectData asked = ConnectData.decode(request.privateData());
        boolean invalidates = loops.canInvalidate() && !asked.lacksInvalidation();
        var transport = new IserTransport(new Accepting(), loops.memory(), false, false, local(),
                request.peer(), IserTransport.accepted(this::established));
        source.add(transport);
        pending.add(transport);
        boolean hasEndpoint = false;
        boolean accepted = false;
        try {
            Endpoint endpoint = request.createEndpoint(loops.endpoint(source, TIMEOUT_MS),
                    transport.handler());
            hasEndpoint = true;
            transport.open(endpoint);
            transport.invalidates(invalidates);
            request.accept(new ConnectData(true, !invalidates).encode());
            accepted = true;
        } finally {
            if (!accepted) {
                transport.abort();
            }
            if (!hasEndpoint) {
                request.reject(new byte[0]); // otherwise the peer would wait for its timeout
            }
        }
    }

    private PduReceiver established(IserTransport connection) {
        pending.remove(connection);
        return receiver.apply(connection);
    }

    /** Event loop of an accepted connection; a connection that ends is no longer pending. */
    private final class Accepting implements Home {
        @Override
        public EventLoop loop() { return source.loop(); }

        @Override
        public void touched(IserTransport connection) { source.touched(connection); }

        @Override
        public void remove(IserTransport connection) {
            pending.remove(connection);
            source.remove(connection);
        }
    }

    @Override
    public void failed(RdmaException cause) {
        LOG.log(System.Logger.Level.ERROR, "{0} no longer accepts connections: {1}", local(),
                cause.getMessage());
    }

    @Override
    public InetSocketAddress local() { return listener.join().address(); }

    @Override
    public void close() {
        Listener open = listener.join();
        try {
            if (source.loop().inLoop()) {
                open.close();
            } else {
                source.loop().execute(open::close);
            }
        } catch (RejectedExecutionException _) {
            // the loop has ended, and has closed the listener with its channel
        }
    }
}
