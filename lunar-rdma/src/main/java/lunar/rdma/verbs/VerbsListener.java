package lunar.rdma.verbs;

import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import lunar.rdma.ConnectionException;
import lunar.rdma.ConnectionException.Reason;
import lunar.rdma.ProviderException;
import lunar.rdma.RdmaException;
import lunar.rdma.posix.SocketAddresses;
import lunar.rdma.spi.ListenerEvents;
import lunar.rdma.spi.ProviderListener;

/**
 * A listening id. If it is bound to a wildcard address, it gets the requests of all devices, and rejects those of other
 * devices than its own.
 */
final class VerbsListener implements ProviderListener, IdOwner {
    private final VerbsChannel channel;
    private final long id;
    private final InetSocketAddress address;
    private final ListenerEvents events;

    private VerbsListener(VerbsChannel channel, long id, ListenerEvents events) {
        this.channel = channel;
        this.id = id;
        this.events = events;
        address = CmId.localAddress(id);
    }

    static VerbsListener listen(VerbsChannel channel, long connections, InetSocketAddress address,
            int backlog, ListenerEvents events) throws RdmaException {
        CmCalls cm = channel.domain().cm();
        long id = CmId.create(cm, connections);
        try {
            bind(channel.domain(), id, address);
            var listener = new VerbsListener(channel, id, events);
            channel.put(id, listener); // a request may be there before the call has returned
            cm.listen(id, backlog);
            return listener;
        } catch (RdmaException e) {
            channel.remove(id);
            cm.destroyId(id);
            throw e instanceof ProviderException failure
                    ? ConnectFailures.ofListen(address, failure)
                    : e;
        }
    }

    private static void bind(NativeDomain domain, long id, InetSocketAddress address)
            throws RdmaException {
        ConnectFailures.requireResolved(address);
        try (Arena arena = Arena.ofConfined()) {
            domain.cm().bind(id, SocketAddresses.write(address, arena).address());
        }
        long context = CmId.context(id);
        if (context != 0 && context != domain.context()) {
            throw new ConnectionException(address + " is not an address of " + domain.deviceName(),
                    Reason.ADDRESS_NOT_LOCAL);
        }
    }

    @Override
    public void handle(CmEvent event) {
        switch (event.type()) {
            case Constants.RDMA_CM_EVENT_CONNECT_REQUEST -> {
                var request = new VerbsRequest(channel, event);
                if (CmId.context(event.id()) == channel.domain().context()) {
                    events.requested(request);
                } else {
                    request.reject(new byte[0]);
                }
            }
            case Constants.RDMA_CM_EVENT_DEVICE_REMOVAL -> events.failed(
                    new ConnectionException("device of " + address + " was removed", Reason.OTHER));
            default -> {
            }
        }
    }

    @Override
    public InetSocketAddress address() { return address; }

    @Override
    public void close() {
        channel.remove(id);
        Closing.quietly(() -> channel.domain().cm().destroyId(id));
    }
}
