package lunar.rdma.libfabric;

import static lunar.rdma.posix.Structs.offset;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import lunar.rdma.ConnectionException;
import lunar.rdma.ProviderException;
import lunar.rdma.RdmaException;
import lunar.rdma.posix.WaitSet;
import lunar.rdma.spi.ConnectionEvents;
import lunar.rdma.spi.EndpointSetup;
import lunar.rdma.spi.ListenerEvents;
import lunar.rdma.spi.ProviderChannel;
import lunar.rdma.spi.ProviderEndpoint;
import lunar.rdma.spi.ProviderListener;
import lunar.rdma.spi.ProviderQueue;

/** Reads an event queue of libfabric, and waits for it and for completion queues. */
final class MsgChannel implements ProviderChannel {
    private static final System.Logger LOG = System.getLogger("lunar.rdma");

    /** Room for an event with its private data. */
    private static final int EVENT_BYTES = 1024;
    private static final long INFO = offset(Layouts.EQ_CM_ENTRY, "info");
    private static final long DATA = Layouts.EQ_CM_ENTRY.byteSize();
    private static final long ERROR = offset(Layouts.EQ_ERR_ENTRY, "err");
    private static final long ERROR_DATA = offset(Layouts.EQ_ERR_ENTRY, "err_data");
    private static final long ERROR_DATA_SIZE = offset(Layouts.EQ_ERR_ENTRY, "err_data_size");

    private final FabricDomain domain;
    private final WaitSet waits = new WaitSet();
    private final Arena arena = Arena.ofShared();
    private final long fid;
    private final int descriptor;
    private final MemorySegment read;
    private final MemorySegment readerr;
    private final MemorySegment trywait;
    private final MemorySegment event = arena.allocate(ValueLayout.JAVA_INT);
    private final MemorySegment buffer = arena.allocate(EVENT_BYTES, 8);
    private final MemorySegment error = arena.allocate(Layouts.EQ_ERR_ENTRY);
    private final MemorySegment fids = arena.allocate(8, 8);

    private final Map<Long, MsgEndpoint> endpoints = new ConcurrentHashMap<>();
    private final Map<Long, MsgListener> listeners = new ConcurrentHashMap<>();
    /** Events that have been read but not reported. They refer to objects, since ids of objects are reused. */
    private final ArrayDeque<Runnable> events = new ArrayDeque<>();

    /** Whether the channel's thread sleeps or is about to. */
    private volatile boolean isSleeping;

    MsgChannel(FabricDomain domain) throws RdmaException {
        this.domain = domain;
        boolean opened = false;
        try (Arena temporary = Arena.ofConfined()) {
            long attributes = temporary.allocate(Layouts.EQ_ATTR).address();
            Memory.number(attributes + offset(Layouts.EQ_ATTR, "wait_obj"), Numbers.FI_WAIT_FD);
            fid = FabricDomain.open("fi_eq_open", Fid.function(domain.fabric(), Layouts.FABRIC,
                    "ops", Layouts.OPS_FABRIC, "eq_open"), domain.fabric(), attributes);
            opened = true;
        } finally {
            if (!opened) {
                waits.close();
                arena.close();
            }
        }
        read = Fid.function(fid, Layouts.EQ, "ops", Layouts.OPS_EQ, "read");
        readerr = Fid.function(fid, Layouts.EQ, "ops", Layouts.OPS_EQ, "readerr");
        trywait = Fid.function(domain.fabric(), Layouts.FABRIC, "ops", Layouts.OPS_FABRIC,
                "trywait");
        fids.set(ValueLayout.JAVA_LONG, 0, fid);
        descriptor = Fid.descriptor(fid);
        waits.add(descriptor);
    }

    FabricDomain domain() { return domain; }

    long fid() { return fid; }

    @Override
    public ProviderQueue createQueue(int depth) throws ProviderException {
        return new FabricQueue(domain, depth, waits, () -> isSleeping = true);
    }

    @Override
    public ProviderListener listen(InetSocketAddress address, int backlog, ListenerEvents sink)
            throws RdmaException {
        return new MsgListener(this, address, backlog, sink);
    }

    @Override
    public ProviderEndpoint createEndpoint(EndpointSetup setup, ConnectionEvents sink) {
        return new MsgEndpoint(this, setup, sink);
    }

    /**
     * Wakes up a sleeping thread after a receive has been posted: an earlier message may be in a buffer of libfabric,
     * which no file descriptor signals.
     */
    void receivePosted() {
        VarHandle.fullFence(); // the other thread sees the receive before it sleeps, or this one sees it sleep
        if (isSleeping) {
            waits.wakeup();
        }
    }

    void add(long object, MsgEndpoint endpoint) { endpoints.put(object, endpoint); }

    void add(long object, MsgListener listener) { listeners.put(object, listener); }

    /** Removes an object that is about to be closed, after reading its pending events. */
    void remove(long object) {
        fetch();
        endpoints.remove(object);
        listeners.remove(object);
    }

    @Override
    public void poll() {
        if (isSleeping) {
            isSleeping = false;
        }
        fetch();
        for (Runnable next; (next = events.poll()) != null;) {
            next.run();
        }
    }

    /** Reads all pending events. */
    private void fetch() {
        while (true) {
            long result = Calls.readEvent(read, fid, event.address(), buffer.address(),
                    EVENT_BYTES, 0);
            if (result > 0) {
                take(event.get(ValueLayout.JAVA_INT, 0), result);
            } else if (result == -Numbers.FI_EAVAIL) {
                error.fill((byte) 0);
                if (Calls.long3(readerr, fid, error.address(), 0) > 0) {
                    takeError();
                }
            } else {
                if (result != -Numbers.EAGAIN && result != 0) {
                    LOG.log(System.Logger.Level.WARNING, "cannot read connection events: {0}",
                            Library.failure("fi_eq_read", result).getMessage());
                }
                return;
            }
        }
    }

    private void take(int kind, long length) {
        long object = buffer.get(ValueLayout.JAVA_LONG, 0);
        byte[] data = length > DATA
                ? buffer.asSlice(DATA, length - DATA).toArray(ValueLayout.JAVA_BYTE)
                : new byte[0];
        if (kind == Numbers.FI_CONNREQ) {
            var info = new FabricInfo(buffer.get(ValueLayout.JAVA_LONG, INFO));
            MsgListener listener = listeners.get(object);
            if (listener == null) {
                info.close();
            } else {
                MsgRequest request = listener.request(info, data);
                events.add(() -> listener.report(request));
            }
            return;
        }
        MsgEndpoint endpoint = endpoints.get(object);
        if (endpoint != null) {
            switch (kind) {
                case Numbers.FI_CONNECTED -> events.add(() -> endpoint.established(data));
                case Numbers.FI_SHUTDOWN -> events.add(endpoint::disconnected);
                default -> LOG.log(System.Logger.Level.DEBUG, "ignored connection event {0}", kind);
            }
        }
    }

    private void takeError() {
        MsgEndpoint endpoint = endpoints.get(error.get(ValueLayout.JAVA_LONG, 0));
        int code = error.get(ValueLayout.JAVA_INT, ERROR);
        long size = error.get(ValueLayout.JAVA_LONG, ERROR_DATA_SIZE);
        long at = error.get(ValueLayout.JAVA_LONG, ERROR_DATA);
        byte[] data = at == 0 || size <= 0 || size > EVENT_BYTES
                ? new byte[0]
                : Memory.at(at, size).toArray(ValueLayout.JAVA_BYTE);
        if (endpoint != null) {
            events.add(() -> endpoint.failed(code, data));
        }
    }

    /** Returns the exception for a failed connection or listener. */
    static ConnectionException failure(String what, int code, byte[] data) {
        ConnectionException.Reason reason = switch (code) {
            case Numbers.ECONNREFUSED -> data.length > 0
                    ? ConnectionException.Reason.REJECTED
                    : ConnectionException.Reason.REFUSED;
            case Numbers.EHOSTUNREACH, Numbers.ENETUNREACH, Numbers.ENETDOWN, Numbers.EACCES ->
                ConnectionException.Reason.UNREACHABLE;
            case Numbers.ETIMEDOUT -> ConnectionException.Reason.TIMEOUT;
            case Numbers.ECONNRESET, Numbers.ECONNABORTED, Numbers.ENOTCONN, Numbers.ESHUTDOWN,
                    Numbers.EPIPE ->
                ConnectionException.Reason.LOST;
            case Numbers.EADDRINUSE -> ConnectionException.Reason.ADDRESS_IN_USE;
            case Numbers.EADDRNOTAVAIL -> ConnectionException.Reason.ADDRESS_NOT_LOCAL;
            default -> ConnectionException.Reason.OTHER;
        };
        return new ConnectionException(what + ": " + Library.loaded().error(code), reason, data);
    }

    @Override
    public void await(long limitMs) {
        if (events.isEmpty() && Calls.trywait(trywait, domain.fabric(), fids.address(), 1) == 0) {
            waits.await(limitMs);
        }
    }

    @Override
    public void wakeup() { waits.wakeup(); }

    @Override
    public void close() {
        poll(); // requests that came late are rejected
        waits.remove(descriptor);
        Fid.closeFreely(fid, "event queue");
        waits.close();
        arena.close();
    }
}
