package lunar.server;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import lunar.target.PortalSpec;

/**
 * The addresses of the portals of a plan. A portal whose host and port stay the same keeps the address that its host
 * was first resolved to: another one would end its sessions, and name servers may fail while the server runs.
 * Immutable.
 */
final class PortalAddresses {
    /** Resolves the name of a host. */
    @FunctionalInterface
    interface Resolver {
        /** Returns an address of the host. Blocks. */
        InetAddress address(String host) throws UnknownHostException;
    }

    /** No addresses yet; resolves by the means of the system. */
    static final PortalAddresses NONE = none(InetAddress::getByName);

    private final Resolver resolver;
    /** By host and port, unresolved. */
    private final Map<InetSocketAddress, InetSocketAddress> known;

    private PortalAddresses(Resolver resolver, Map<InetSocketAddress, InetSocketAddress> known) {
        this.resolver = resolver;
        this.known = Map.copyOf(known);
    }

    /** No addresses yet. */
    static PortalAddresses none(Resolver resolver) {
        return new PortalAddresses(resolver, Map.of());
    }

    /**
     * Returns the addresses of a plan, of which those that are not known yet are resolved, and no others.
     *
     * @throws InvalidPlanException if a host is unknown, or a port is none; the message is one line
     */
    PortalAddresses of(ServerPlan plan) throws InvalidPlanException {
        var addresses = new HashMap<InetSocketAddress, InetSocketAddress>();
        try {
            for (ServerPlan.Listen portal : plan.portals()) {
                InetSocketAddress name = name(portal);
                if (!addresses.containsKey(name)) {
                    InetSocketAddress address = known.get(name);
                    addresses.put(name, address == null ? resolved(portal) : address);
                }
            }
        } catch (IllegalArgumentException e) {
            throw InvalidPlanException.of(e);
        }
        return new PortalAddresses(resolver, addresses);
    }

    /** Returns the portals of the plan that these are the addresses of. */
    List<PortalSpec> portals(ServerPlan plan) {
        return plan.portals().stream().map(portal -> new PortalSpec(
                Objects.requireNonNull(known.get(name(portal))), portal.group(),
                portal.advertised(), portal.moved(), portal.transport(), false, portal.tls()))
                .toList();
    }

    private static InetSocketAddress name(ServerPlan.Listen portal) {
        return InetSocketAddress.createUnresolved(portal.host(), portal.port());
    }

    private InetSocketAddress resolved(ServerPlan.Listen portal) throws InvalidPlanException {
        try {
            return new InetSocketAddress(resolver.address(portal.host()), portal.port());
        } catch (UnknownHostException e) {
            throw new InvalidPlanException(
                    "unknown host '" + portal.host() + "'; check the name", e);
        }
    }
}
