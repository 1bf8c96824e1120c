package lunar.rdma.libfabric;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.Optional;
import lunar.rdma.ConnectionException;
import lunar.rdma.ProviderException;
import lunar.rdma.RdmaException;
import lunar.rdma.posix.SocketAddresses;
import lunar.rdma.spi.ListenerEvents;
import lunar.rdma.spi.ProviderListener;

/** A passive endpoint. Its native object remains open until all its requests have been answered through it. */
final class MsgListener implements ProviderListener {
    private final MsgChannel channel;
    private final ListenerEvents events;
    private final FabricInfo info;
    private final long fid;
    private final InetSocketAddress address;
    private int unanswered;
    private boolean isClosed;

    MsgListener(MsgChannel channel, InetSocketAddress at, int backlog, ListenerEvents events)
            throws RdmaException {
        this.channel = channel;
        this.events = events;
        if (at.isUnresolved()) {
            throw new ConnectionException("cannot listen on " + at + ": no such host",
                    ConnectionException.Reason.ADDRESS_NOT_LOCAL);
        }
        Optional<FabricInfo> found = FabricInfo.query(MsgDevice.KIND, FabricInfo.isInet6(at), at,
                true);
        info = found.orElseThrow(() -> new ConnectionException("cannot listen on " + at,
                ConnectionException.Reason.ADDRESS_NOT_LOCAL));
        long opened = 0;
        boolean listening = false;
        try {
            opened = open(at);
            fid = opened;
            Fid.bind(fid, channel.fid(), 0, "event queue");
            setBacklog(backlog);
            require(at, Calls.int1(cm("listen"), fid));
            address = name();
            listening = true;
        } finally {
            if (!listening) {
                if (opened != 0) {
                    Fid.close(opened);
                }
                info.close();
            }
        }
        channel.add(fid, this);
    }

    private long open(InetSocketAddress at) throws RdmaException {
        long fabric = channel.domain().fabric();
        try {
            return FabricDomain.open("fi_passive_ep", Fid.function(fabric, Layouts.FABRIC, "ops",
                    Layouts.OPS_FABRIC, "passive_ep"), fabric, info.address());
        } catch (ProviderException e) {
            throw MsgChannel.failure("cannot listen on " + at, e.code(), new byte[0]);
        }
    }

    private void require(InetSocketAddress at, int result) throws ConnectionException {
        if (result != 0) {
            throw MsgChannel.failure("cannot listen on " + at, -result, new byte[0]);
        }
    }

    /** Sets the backlog, if the provider supports this. */
    private void setBacklog(int backlog) {
        try (Arena arena = Arena.ofConfined()) {
            int _ = Fid.control(fid, Numbers.FI_BACKLOG,
                    arena.allocateFrom(ValueLayout.JAVA_INT, backlog));
        }
    }

    private InetSocketAddress name() throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocate(SocketAddresses.MAX_BYTES, 8);
            MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_LONG,
                    SocketAddresses.MAX_BYTES);
            Fid.check("fi_getname",
                    Calls.int3(cm("getname"), fid, name.address(), length.address()));
            return SocketAddresses.read(name).orElseThrow();
        }
    }

    private MemorySegment cm(String function) {
        return Fid.function(fid, Layouts.PEP, "cm", Layouts.OPS_CM, function);
    }

    @Override
    public InetSocketAddress address() { return address; }

    /** Creates a request, which {@link #answered} ends. */
    MsgRequest request(FabricInfo of, byte[] data) {
        unanswered++;
        return new MsgRequest(this, of, data);
    }

    /** Reports a request, or rejects it if the listener has been closed. */
    void report(MsgRequest request) {
        if (isClosed) {
            request.reject(new byte[0]);
        } else {
            events.requested(request);
        }
    }

    int reject(long handle, byte[] data) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocateFrom(ValueLayout.JAVA_BYTE, data);
            return Calls.int4(cm("reject"), fid, handle, bytes.address(), data.length);
        }
    }

    /** Handles the end of a request, which has been answered. */
    void answered() {
        unanswered--;
        closeIfDone();
    }

    private void closeIfDone() {
        if (isClosed && unanswered == 0) {
            channel.remove(fid);
            if (unanswered == 0) { // otherwise the pending events had another request
                Fid.closeFreely(fid, "listener");
                info.close();
            }
        }
    }

    @Override
    public void close() {
        isClosed = true;
        closeIfDone();
    }
}
