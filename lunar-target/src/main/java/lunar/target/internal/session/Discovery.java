package lunar.target.internal.session;

import java.net.InetSocketAddress;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;
import lunar.iscsi.login.LoginResult;
import lunar.iscsi.spi.Transports;
import lunar.iscsi.text.DiscoveredTarget;
import lunar.iscsi.text.SendTargets;
import lunar.iscsi.text.TargetAddress;
import lunar.target.Absence;
import lunar.target.InitiatorSpec;
import lunar.target.TargetSpec;

/**
 * Answers SendTargets (RFC 7143 appendix C): reports to an initiator the targets that it has access to, with all of
 * their portals. Thread-safe.
 */
public final class Discovery {
    private final ServerState server;

    Discovery(ServerState server) { this.server = server; }

    /**
     * @param login login of the requesting session
     * @param asked portal of the requesting connection, reported first
     * @param reached local address of that connection
     */
    List<DiscoveredTarget> answer(SendTargets question, LoginResult login, BoundPortal asked,
            InetSocketAddress reached) {
        return switch (question) {
            case SendTargets.All _ -> server.targets().stream()
                    .flatMap(target -> shown(target, login, asked, reached).stream()).toList();
            // A normal session may query its own target only.
            case SendTargets.Named(String name) when login.targetName().isEmpty()
                    || login.targetName().get().equals(InitiatorSpec.normal(name)) ->
                named(name, login, asked, reached);
            case SendTargets.Named _ -> List.of();
            case SendTargets.Current _ -> login.targetName()
                    .map(name -> named(name, login, asked, reached)).orElse(List.of());
        };
    }

    /**
     * Returns the response for an initiator with access to every target, without the portals of other servers and of
     * other transports than TCP; includes targets that it cannot reach.
     */
    public List<DiscoveredTarget> all(InetSocketAddress reached) {
        return server.targets().stream()
                .filter(target -> !(target.spec().absence()
                        .orElse(null) instanceof Absence.Removed))
                .map(target -> new DiscoveredTarget(target.spec().name(),
                        here(target, reached, Transports.ISCSI).toList()))
                .toList();
    }

    /**
     * Returns the addresses of the portals of this server for a target. Only those of one transport, since an address
     * does not say of which it is.
     */
    private Stream<TargetAddress> here(TargetNode target, InetSocketAddress reached,
            String transport) {
        return server.portals().all().stream().filter(portal -> target.isIn(portal.group()))
                .filter(portal -> portal.spec().transport().equals(transport))
                .flatMap(portal -> portal.address(reached).stream());
    }

    /** Returns the addresses of all portals of a target and a transport: those of this server first. */
    private Stream<TargetAddress> addresses(TargetNode target, InetSocketAddress reached,
            String transport) {
        Stream<TargetAddress> elsewhere = server.portals().elsewhere().stream()
                .filter(portal -> target.isIn(portal.group()))
                .filter(portal -> portal.transport().equals(transport))
                .map(portal -> {
                    TargetAddress at = portal.advertised().orElseThrow();
                    return new TargetAddress(at.host(), at.port(),
                            OptionalInt.of(portal.group()));
                });
        return Stream.concat(here(target, reached, transport), elsewhere);
    }

    private List<DiscoveredTarget> named(String name, LoginResult login, BoundPortal asked,
            InetSocketAddress reached) {
        TargetNode target = server.target(name);
        return target == null
                ? List.of()
                : shown(target, login, asked, reached).stream().toList();
    }

    private Optional<DiscoveredTarget> shown(TargetNode target, LoginResult login,
            BoundPortal asked,
            InetSocketAddress reached) {
        TargetSpec spec = target.spec();
        if (spec.access(login.initiatorName()).isEmpty()
                || spec.absence().orElse(null) instanceof Absence.Removed) {
            return Optional.empty();
        }
        var addresses = new LinkedHashSet<TargetAddress>();
        if (target.isIn(asked.group())) {
            asked.address(reached).ifPresent(addresses::add);
        }
        addresses(target, reached, asked.spec().transport()).forEach(addresses::add);
        // Without an address the initiator would assume the portal of this connection (appendix C).
        return addresses.isEmpty()
                ? Optional.empty()
                : Optional.of(new DiscoveredTarget(spec.name(), List.copyOf(addresses)));
    }
}
