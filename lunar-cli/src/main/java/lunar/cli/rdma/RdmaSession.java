package lunar.cli.rdma;

import java.net.InetSocketAddress;
import lunar.cli.command.Failure;
import lunar.rdma.ProtectionDomain;
import lunar.rdma.RdmaDevice;
import lunar.rdma.RdmaException;
import org.jspecify.annotations.Nullable;

/** A device that is open, and the peer: another process, or a responder in this one. */
final class RdmaSession implements AutoCloseable {
    private final ProtectionDomain domain;
    private final @Nullable RdmaResponder responder;
    private final InetSocketAddress peer;

    /**
     * @param address of a peer; empty to have one in this process
     */
    RdmaSession(RdmaDevice device, String address) throws RdmaException, Failure {
        domain = device.open();
        RdmaResponder own = null;
        InetSocketAddress to;
        boolean opened = false;
        try {
            if (address.isEmpty()) {
                own = new RdmaResponder(domain, RdmaOptions.local(device));
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

    RdmaProbe probe() { return new RdmaProbe(domain, peer); }

    @Override
    public void close() {
        if (responder != null) {
            responder.close();
        }
        domain.close();
    }
}
