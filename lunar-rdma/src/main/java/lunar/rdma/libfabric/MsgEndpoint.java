package lunar.rdma.libfabric;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import lunar.rdma.ConnectionException;
import lunar.rdma.Operation;
import lunar.rdma.ProviderException;
import lunar.rdma.RdmaException;
import lunar.rdma.WorkRequest;
import lunar.rdma.spi.ConnectionEvents;
import lunar.rdma.spi.EndpointSetup;
import lunar.rdma.spi.ProviderEndpoint;
import org.jspecify.annotations.Nullable;

/**
 * A connected endpoint (FI_EP_MSG). On the connecting side, the native endpoint is opened by the connect, since it
 * depends on the family of the peer's address; receives that are posted before are kept until then.
 */
final class MsgEndpoint implements ProviderEndpoint {
    /** A receive that was posted before the native endpoint was opened. */
    private record Receive(WorkRequest request, long id) {}

    private final MsgChannel channel;
    private final EndpointSetup setup;
    private final ConnectionEvents events;
    private final MemorySegment memory;
    private final List<Receive> kept = new ArrayList<>();

    /** Native endpoint; 0 before it is opened, and once it is closed. Changes are guarded by this. */
    private long fid;
    private volatile @Nullable Transfers transfers;
    private boolean isAborted;

    MsgEndpoint(MsgChannel channel, EndpointSetup setup, ConnectionEvents events) {
        this.channel = channel;
        this.setup = setup;
        this.events = events;
        memory = channel.domain().takeScratch();
    }

    /** Opens the native endpoint. */
    synchronized void open(FabricInfo info) throws ProviderException {
        if (isAborted) {
            return;
        }
        long opened = channel.domain().open("fi_endpoint", "endpoint", info.address());
        boolean enabled = false;
        try {
            Fid.bind(opened, channel.fid(), 0, "event queue");
            long sends = ((FabricQueue) setup.sendQueue()).fid();
            long receives = ((FabricQueue) setup.receiveQueue()).fid();
            if (sends == receives) {
                Fid.bind(opened, sends, Numbers.FI_TRANSMIT | Numbers.FI_RECV, "queue");
            } else {
                Fid.bind(opened, sends, Numbers.FI_TRANSMIT, "send queue");
                Fid.bind(opened, receives, Numbers.FI_RECV, "receive queue");
            }
            Fid.enable(opened);
            enabled = true;
        } finally {
            if (!enabled) {
                Fid.close(opened);
            }
        }
        fid = opened;
        channel.add(fid, this);
        var made = new Transfers(fid, 0, memory);
        synchronized (kept) {
            for (Receive receive : kept) {
                if (!made.post(receive.request(), receive.id())) {
                    throw Library.failure("post of " + kept.size() + " receives",
                            -Numbers.EAGAIN);
                }
            }
            kept.clear();
            transfers = made;
        }
    }

    @Override
    public void connect(InetSocketAddress address, byte[] privateData) throws RdmaException {
        if (address.isUnresolved()) {
            throw new ConnectionException("no connection with " + address + ": no such host",
                    ConnectionException.Reason.UNREACHABLE);
        }
        FabricInfo info = FabricInfo
                .query(MsgDevice.KIND, FabricInfo.isInet6(address), address, false)
                .orElseThrow(() -> new ConnectionException("no connection with " + address,
                        ConnectionException.Reason.UNREACHABLE));
        try (info) {
            open(info);
            manage("connect", address, info, privateData);
        }
    }

    private synchronized void manage(String function, InetSocketAddress peer, FabricInfo info,
            byte[] privateData) throws ConnectionException {
        if (fid == 0) {
            return; // closed meanwhile
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment data = privateData.length == 0
                    ? MemorySegment.NULL
                    : arena.allocateFrom(ValueLayout.JAVA_BYTE, privateData);
            int result = Calls.int4(
                    Fid.function(fid, Layouts.EP, "cm", Layouts.OPS_CM, function), fid,
                    info.struct("dest_addr"), data.address(), privateData.length);
            if (result != 0) {
                throw MsgChannel.failure("no connection with " + peer, -result, new byte[0]);
            }
        }
    }

    @Override
    public synchronized void accept(byte[] privateData) throws RdmaException {
        if (fid == 0) {
            return;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment data = privateData.length == 0
                    ? MemorySegment.NULL
                    : arena.allocateFrom(ValueLayout.JAVA_BYTE, privateData);
            int result = Calls.int3(
                    Fid.function(fid, Layouts.EP, "cm", Layouts.OPS_CM, "accept"), fid,
                    data.address(), privateData.length);
            if (result != 0) {
                throw MsgChannel.failure("request is not accepted", -result, new byte[0]);
            }
        }
    }

    @Override
    public boolean post(WorkRequest request, long id) throws RdmaException {
        Transfers open = transfers;
        if (open != null) {
            boolean isPosted = open.post(request, id);
            if (request.operation() == Operation.RECEIVE) {
                channel.receivePosted();
            }
            return isPosted;
        }
        synchronized (kept) {
            open = transfers;
            if (open == null) {
                kept.add(new Receive(request.copy(), id));
                return true;
            }
        }
        return open.post(request, id);
    }

    @Override
    public boolean reportsUnsignalled() { return true; }

    void established(byte[] data) {
        if (!isAborted) {
            events.established(data);
        }
    }

    void failed(int code, byte[] data) {
        if (!isAborted) {
            events.failed(MsgChannel.failure("no connection", code, data));
        }
    }

    void disconnected() {
        if (!isAborted) {
            events.disconnected();
        }
    }

    @Override
    public synchronized void disconnect() {
        if (fid != 0) {
            int _ = Calls.int2(Fid.function(fid, Layouts.EP, "cm", Layouts.OPS_CM, "shutdown"),
                    fid, 0); // the peer may be gone
        }
    }

    @Override
    public synchronized boolean abort() {
        isAborted = true;
        if (fid != 0) {
            channel.remove(fid);
            Fid.closeFreely(fid, "endpoint");
            fid = 0;
        }
        return false;
    }

    @Override
    public void close() { channel.domain().giveScratch(memory); }
}
