package lunar.target;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import lunar.iscsi.Bhs;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.spi.PduReceiver;
import lunar.iscsi.spi.Transport;
import org.jspecify.annotations.Nullable;

/** One connection of an initiator: first in its login phase, then, if that succeeds, in full feature. */
final class Connection implements PduReceiver {
    private static final System.Logger LOG = System.getLogger("lunar.target");

    private final TargetServer server;
    private final Transport transport;
    private PduReceiver phase;
    private @Nullable String said;

    Connection(TargetServer server, Transport transport, boolean refused) {
        this.server = server;
        this.transport = transport;
        phase = new LoginPhase(this, server, transport, refused);
    }

    /** Login is done; what comes from now on is for the session. */
    void enter(FullFeature fullFeature) {
        phase = fullFeature;
    }

    /** Ends the connection for a reason of ours, with one line in the log. */
    void end(String why) {
        if (said == null) {
            said = why;
        }
        transport.close();
    }

    @Override
    public MemorySegment dataDestination(Bhs bhs, MemorySegment ahs, int length)
            throws ProtocolException {
        return phase.dataDestination(bhs, ahs, length);
    }

    @Override
    public void received(Bhs bhs, MemorySegment ahs, MemorySegment data) throws ProtocolException {
        phase.received(bhs, ahs, data);
    }

    @Override
    public void dataDigestError(Bhs bhs) throws ProtocolException { phase.dataDigestError(bhs); }

    @Override
    public void batchEnd() throws ProtocolException { phase.batchEnd(); }

    @Override
    public void closed(@Nullable IOException cause) {
        String why = said != null ? said : cause == null ? null : cause.getMessage();
        if (why != null) {
            LOG.log(System.Logger.Level.WARNING, "connection from {0} ({1}) ended: {2}",
                    printable(transport.remote()), phase, why);
        } else {
            LOG.log(System.Logger.Level.DEBUG, "connection from {0} ({1}) closed",
                    printable(transport.remote()), phase);
        }
        phase.closed(cause);
        server.disconnected(this);
    }

    Transport transport() { return transport; }

    static String printable(java.net.InetSocketAddress address) {
        return address.getAddress().getHostAddress() + ":" + address.getPort();
    }
}
