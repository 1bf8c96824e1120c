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
    private volatile TransportProvider.Credentials credentials;

    BoundPortal(PortalSpec spec, TransportProvider.Credentials credentials) {
        this.spec = spec;
        this.credentials = credentials;
    }

    void listen(Transports transports, Function<Transport, PduReceiver> receiver)
            throws IOException {
        TransportProvider.Listener before = listener;
        InetSocketAddress at = before == null ? spec.address() : before.local(); // the port that 0 has picked
        listener = transports.loops(spec.transport()).listen(at, credentials, receiver);
        listening = true;
    }

    PortalSpec spec() { return spec; }

    /** Replaces the spec by another one of the same address. */
    void become(PortalSpec wanted) {
        spec = wanted;
    }

    /** Makes new connections use other credentials. */
    void use(TransportProvider.Credentials renewed) {
        credentials = renewed;
        Objects.requireNonNull(listener).use(renewed);
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
                known.transport(), false, known.tls());
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
