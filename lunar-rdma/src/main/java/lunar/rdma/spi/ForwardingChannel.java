package lunar.rdma.spi;

import java.net.InetSocketAddress;
import lunar.rdma.RdmaException;

/** Delegates every operation that a subclass does not override to another channel. */
public class ForwardingChannel implements ProviderChannel {
    private final ProviderChannel channel;

    protected ForwardingChannel(ProviderChannel channel) { this.channel = channel; }

    /** Returns the channel that this one delegates to. */
    protected final ProviderChannel delegate() {
        return channel;
    }

    /** Returns the request to be reported for one that a listener of the other channel has reported. */
    protected ProviderRequest wrap(ProviderRequest request) {
        return request;
    }

    @Override
    public ProviderQueue createQueue(int depth) throws RdmaException {
        return channel.createQueue(depth);
    }

    @Override
    public ProviderListener listen(InetSocketAddress address, int backlog, ListenerEvents events)
            throws RdmaException {
        return channel.listen(address, backlog, new ListenerEvents() {
            @Override
            public void requested(ProviderRequest request) { events.requested(wrap(request)); }

            @Override
            public void failed(RdmaException cause) { events.failed(cause); }
        });
    }

    @Override
    public ProviderEndpoint createEndpoint(EndpointSetup setup, ConnectionEvents events)
            throws RdmaException {
        return channel.createEndpoint(setup, events);
    }

    @Override
    public void poll() throws RdmaException { channel.poll(); }

    @Override
    public void await(long limitMs) throws RdmaException { channel.await(limitMs); }

    @Override
    public void wakeup() { channel.wakeup(); }

    @Override
    public void close() { channel.close(); }
}
