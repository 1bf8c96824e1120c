package lunar.iser;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import lunar.iscsi.framing.PduReceiver;
import lunar.iscsi.spi.LoopOptions;
import lunar.iscsi.spi.Transport;
import lunar.iscsi.spi.TransportProvider;
import lunar.iser.connection.IserTransport;
import lunar.iser.memory.RegisteredPools.Pool;
import lunar.iser.wire.ConnectData;
import lunar.rdma.ConnectionException;
import lunar.rdma.Endpoint;
import lunar.rdma.MemoryUse;
import lunar.rdma.RdmaDevice;
import lunar.rdma.RdmaException;

/**
 * Opens connections and listeners over RDMA. A device is opened when the first connection or listener needs it.
 * Thread-safe.
 */
final class IserLoops implements TransportProvider.Loops {
    private static final System.Logger LOG = System.getLogger("lunar.iser");

    private final String name;
    private final LoopOptions options;
    private final DeviceChoice choice;
    private final boolean needsHello;

    /** Open devices, by name. This and all fields below are guarded by this. */
    private final Map<String, DeviceLoops> devices = new LinkedHashMap<>();
    private final Set<Registered> memory = new HashSet<>();
    private boolean hasWarned;
    private boolean isClosed;

    /**
     * @param needsHello whether this end, as an initiator, requires the exchange of Hello and HelloReply
     */
    IserLoops(String name, LoopOptions options, DeviceChoice choice, boolean needsHello) {
        this.name = name;
        this.options = options;
        this.choice = choice;
        this.needsHello = needsHello;
    }

    private synchronized DeviceLoops loops(RdmaDevice device) throws IOException {
        if (isClosed) {
            throw new IOException(name + " is closed");
        }
        String key = device.info().name();
        DeviceLoops open = devices.get(key);
        if (open == null) {
            open = new DeviceLoops(name, options, device);
            devices.put(key, open);
            LOG.log(System.Logger.Level.DEBUG, "opened RDMA device {0}", key);
            for (Registered registered : memory) {
                registered.with(open);
            }
        }
        return open;
    }

    // --- connecting ---

    @Override
    public Transport connect(InetSocketAddress portal, int timeoutMs,
            Function<Transport, PduReceiver> receiver) throws IOException {
        if (timeoutMs < 1) {
            throw new IllegalArgumentException("timeout must be positive: " + timeoutMs + " ms");
        }
        DeviceLoops loops = loops(choice.forRemote(portal.getAddress()));
        if (loops.isOwnThread()) {
            throw new IllegalStateException("blocking call on the thread of an event loop");
        }
        var connected = new CompletableFuture<Transport>();
        IserSource source = loops.nextSource();
        var local = new InetSocketAddress(DeviceChoice.localAddress(portal.getAddress()), 0);
        var transport = new IserTransport(source, loops.memory(), true, needsHello, local, portal,
                new Connecting(receiver, connected));
        source.add(transport);
        try {
            Endpoint endpoint = source.channel().createEndpoint(
                    loops.endpoint(source, timeoutMs), transport.handler());
            transport.open(endpoint);
            // A peer cannot invalidate the STag of an ordinary memory region, so this end does not announce support.
            endpoint.connect(portal, new ConnectData(true, true).encode());
            return connected.get(timeoutMs, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failed(portal, transport, e);
        } catch (ExecutionException e) {
            throw failed(portal, transport, e.getCause() == null ? e : e.getCause());
        } catch (IOException | TimeoutException | RuntimeException e) {
            throw failed(portal, transport, e);
        }
    }

    private static IOException failed(InetSocketAddress portal, IserTransport transport,
            Throwable cause) {
        transport.abort();
        if (cause instanceof ConnectionException refused
                && refused.reason() == ConnectionException.Reason.REFUSED) {
            var connect = new ConnectException("Connection refused");
            connect.initCause(cause);
            return connect;
        }
        return cause instanceof IOException own
                ? own
                : new IOException("cannot connect to " + portal, cause);
    }

    /** Completes the connection that the caller of {@link #connect} waits for. */
    private record Connecting(Function<Transport, PduReceiver> receiver,
            CompletableFuture<Transport> connected) implements IserTransport.Beginning {
        @Override
        public PduReceiver begin(IserTransport connection) {
            PduReceiver made = receiver.apply(connection);
            connected.complete(connection);
            return made;
        }

        @Override
        public void failed(IOException why) { connected.completeExceptionally(why); }
    }

    // --- listening ---

    @Override
    public TransportProvider.Listener listen(InetSocketAddress portal,
            Function<Transport, PduReceiver> receiver) throws IOException {
        DeviceLoops loops = loops(choice.forLocal(portal.getAddress()));
        if (loops.isOwnThread()) {
            throw new IllegalStateException("blocking call on the thread of an event loop");
        }
        return IserListener.open(loops, portal, receiver);
    }

    // --- memory ---

    @Override
    public TransportProvider.Registration register(MemorySegment segment) {
        var registered = new Registered(segment);
        synchronized (this) {
            if (!isClosed) {
                memory.add(registered);
                devices.values().forEach(registered::with);
            }
        }
        return registered;
    }

    /** Memory that is registered with each open device. */
    private final class Registered implements TransportProvider.Registration {
        private final MemorySegment segment;
        private final List<Pool> pools = new ArrayList<>();

        Registered(MemorySegment segment) { this.segment = segment; }

        void with(DeviceLoops device) {
            try {
                pools.add(device.register(segment));
            } catch (RdmaException e) { // each operation then registers its memory, or fails
                LOG.log(hasWarned ? System.Logger.Level.DEBUG : System.Logger.Level.WARNING,
                        "{0}; operations on unregistered memory are slower",
                        e.getMessage());
                hasWarned = true;
            }
        }

        @Override
        public void close() {
            synchronized (IserLoops.this) {
                if (memory.remove(this)) {
                    pools.forEach(Pool::close);
                }
            }
        }
    }

    /** Returns the number of message buffers that connections hold; for tests. */
    synchronized int messageBuffersInUse() {
        return devices.values().stream().mapToInt(device -> device.memory().messagesTaken())
                .sum();
    }

    /** Returns the use of each open device's memory, in the order of opening; for tests. */
    synchronized List<MemoryUse> use() {
        return devices.values().stream().map(DeviceLoops::use).toList();
    }

    @Override
    public void close() {
        List<DeviceLoops> ending;
        synchronized (this) {
            isClosed = true;
            ending = List.copyOf(devices.values());
            devices.clear();
        }
        ending.forEach(DeviceLoops::stop);
        ending.forEach(DeviceLoops::close);
    }
}
