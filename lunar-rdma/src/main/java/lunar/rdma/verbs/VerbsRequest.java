package lunar.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import lunar.rdma.ProviderException;
import lunar.rdma.RdmaException;
import lunar.rdma.spi.ConnectionEvents;
import lunar.rdma.spi.EndpointSetup;
import lunar.rdma.spi.ProviderChannel;
import lunar.rdma.spi.ProviderEndpoint;
import lunar.rdma.spi.ProviderRequest;

/** A connection request. Owns its id until an endpoint takes it over. */
final class VerbsRequest implements ProviderRequest {
    private final VerbsChannel channel;
    private final CmEvent event;
    private final InetSocketAddress peer;

    VerbsRequest(VerbsChannel channel, CmEvent event) {
        this.channel = channel;
        this.event = event;
        peer = CmId.peerAddress(event.id());
    }

    @Override
    public InetSocketAddress peer() { return peer; }

    @Override
    public byte[] privateData() { return event.privateData(); }

    @Override
    public ProviderEndpoint createEndpoint(ProviderChannel home, EndpointSetup setup,
            ConnectionEvents events) throws RdmaException {
        var verbs = (VerbsChannel) home;
        if (!home.equals(channel)) {
            channel.domain().cm().migrate(event.id(), verbs.connections());
        }
        ReadDepth reads = channel.domain().reads().atMost(setup.readDepth(), setup.readDepth())
                .atMost(event.responderResources(), event.initiatorDepth());
        return VerbsEndpoint.ofRequest(verbs, event.id(), setup, events, reads);
    }

    @Override
    public void reject(byte[] privateData) {
        CmCalls cm = channel.domain().cm();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment data = arena.allocateFrom(JAVA_BYTE, privateData);
            cm.reject(event.id(), data.address(), privateData.length);
        } catch (ProviderException _) {
            // the peer has gone away
        }
        Closing.quietly(() -> cm.destroyId(event.id()));
    }

    /** Rejects the request without data. */
    void drop() { reject(new byte[0]); }
}
