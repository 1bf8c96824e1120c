package lunar.cli.rdma;

import java.net.InetSocketAddress;
import lunar.cli.command.Failure;
import lunar.rdma.ConnectionException;
import lunar.rdma.ProtectionDomain;
import lunar.rdma.RdmaDevice;
import lunar.rdma.RdmaException;
import lunar.rdma.probe.Probe;
import lunar.rdma.probe.Responder;
import org.jspecify.annotations.Nullable;

/** An open RDMA device and the address of the peer: another process, or a responder in this one. */
final class RdmaSession implements AutoCloseable {
    private final ProtectionDomain domain;
    private final @Nullable Responder responder;
    private final InetSocketAddress peer;

    /**
     * @param address address of a peer; empty to start one in this process
     */
    RdmaSession(RdmaDevice device, String address) throws RdmaException, Failure {
        domain = device.open();
        Responder own = null;
        InetSocketAddress to;
        boolean opened = false;
        try {
            if (address.isEmpty()) {
                own = new Responder(domain, RdmaOptions.local(device));
                to = own.address();
            } else {
                to = RdmaOptions.parse(address);
            }
            opened = true;
        } finally {
            if (!opened) {
                domain.close();
            }
        }
        responder = own;
        peer = to;
    }

    /** Returns a failure with advice, for a connection that cannot be established or has ended. */
    static Failure failure(ConnectionException cause) {
        return new Failure(cause.getMessage()
                + "; 'lunar rdma respond' must run there, on a device of the same kind", cause);
    }

    Probe probe() { return new Probe(domain, peer); }

    @Override
    public void close() {
        if (responder != null) {
            responder.close();
        }
        domain.close();
    }
}
