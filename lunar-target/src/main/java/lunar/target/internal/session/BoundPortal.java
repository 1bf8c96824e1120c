package lunar.target.internal.session;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import lunar.iscsi.framing.PduReceiver;
import lunar.iscsi.spi.Transport;
import lunar.iscsi.spi.TransportProvider;
import lunar.iscsi.spi.Transports;
import lunar.iscsi.text.TargetAddress;
import lunar.target.PortalSpec;
import org.jspecify.annotations.Nullable;

/** A listening portal. Thread-safe. */
public final class BoundPortal {
    private volatile PortalSpec spec;
    private volatile TransportProvider.@Nullable Listener listener;
    private volatile boolean listening;

    BoundPortal(PortalSpec spec) { this.spec = spec; }

    void listen(Transports transports, Function<Transport, PduReceiver> receiver)
            throws IOException {
        listener = transports.loops(spec.transport()).listen(spec.address(), receiver);
        listening = true;
    }

    PortalSpec spec() { return spec; }

    /** Replaces the spec by another one of the same address. */
    void become(PortalSpec wanted) {
        spec = wanted;
    }

    int group() { return spec.group(); }

    /** Returns the address where it listens, with the real port. */
    public InetSocketAddress local() {
        return Objects.requireNonNull(listener).local();
    }

    /** Returns a description with the address where it listens. */
    public PortalSpec listening() {
        PortalSpec known = spec;
        return new PortalSpec(local(), known.group(), known.advertised(), known.moved(),
                known.transport(), false);
    }

    boolean isListening() { return listening; }

    /** Stops accepting connections. */
    void close() {
        listening = false;
        Objects.requireNonNull(listener).close();
    }

    /**
     * Returns the address to advertise to an initiator.
     *
     * @param reached local address of its connection, reported for a portal that listens on the wildcard address
     * @return empty if the initiator cannot reach a loopback address, because it is not on this machine
     */
    Optional<TargetAddress> address(InetSocketAddress reached) {
        if (spec.advertised().isPresent()) {
            TargetAddress known = spec.advertised().get();
            return Optional
                    .of(new TargetAddress(known.host(), known.port(), OptionalInt.of(group())));
        }
        InetSocketAddress local = local();
        InetAddress host = local.getAddress().isAnyLocalAddress()
                ? reached.getAddress()
                : local.getAddress();
        return host.isLoopbackAddress() && !reached.getAddress().isLoopbackAddress()
                ? Optional.empty()
                : Optional.of(new TargetAddress(host.getHostAddress().replaceFirst("%.*", ""),
                        local.getPort(), OptionalInt.of(group())));
    }
}
