package lunar.server;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import lunar.iscsi.text.DiscoveredTarget;
import lunar.iscsi.text.TargetAddress;
import lunar.isns.IsnsRegistrar;
import lunar.isns.IsnsServer;
import lunar.isns.IsnsTiming;
import lunar.isns.Registration;
import lunar.isns.StorageNode;
import lunar.target.TargetServer;
import lunar.target.TargetSpec;

/**
 * Entry of a server and its targets at an iSNS server: the data that SendTargets reports, without initiator lists,
 * which iSNS does not support. The names of all targets are visible to every node in a common Discovery Domain; access
 * control at login still applies.
 *
 * <p>For a portal on the wildcard address, registers the address that the iSNS server has reached; or, if that runs on
 * this machine, those of all network interfaces. A loopback portal is registered only if the target has no other portal
 * and the iSNS server runs on this machine.
 */
public final class IsnsEntry implements IsnsRegistrar.Source {
    private static final System.Logger LOG = System.getLogger("lunar.isns");
    private static final int MAX_ALIAS_BYTES = 255;

    private final TargetServer server;

    /** Entity Identifier; empty before it is needed. */
    private String entity = "";

    /** Advertised names that are not known now. */
    private final Set<String> unknown = new HashSet<>();

    IsnsEntry(TargetServer server) { this.server = server; }

    /**
     * Registers a server's targets, and keeps the registration up to date. Returns immediately; close it before the
     * server.
     */
    public static IsnsRegistrar announce(TargetServer server, IsnsServer at, IsnsTiming timing) {
        IsnsRegistrar registrar = IsnsRegistrar.start(at, new IsnsEntry(server), timing);
        server.onChange(registrar::changed);
        return registrar;
    }

    /** Returns the entity's name, which is the same at each start; no other server has this portal. */
    private static String entity(InetSocketAddress portal, InetAddress reached) {
        String host = reached.getHostAddress();
        try {
            String name = InetAddress.getLocalHost().getHostName();
            if (!name.startsWith("localhost")) { // every machine may be called so
                host = name;
            }
        } catch (UnknownHostException e) {
            LOG.log(System.Logger.Level.DEBUG, "the name of this machine cannot be determined", e);
        }
        return host + ":" + (portal.getAddress().isAnyLocalAddress()
                ? Integer.toString(portal.getPort())
                : new StorageNode.Portal(portal.getAddress(), portal.getPort()).toString());
    }

    @Override
    public Registration registration(InetAddress reached) throws IOException {
        if (entity.isEmpty()) {
            // Resolves names, which may take long.
            entity = entity(server.portals().getFirst(), reached);
        }
        var portals = new LinkedHashMap<String, Map<StorageNode.Portal, Integer>>();
        for (InetAddress address : reached.isLoopbackAddress()
                ? ownAddresses()
                : List.of(reached)) {
            add(address, portals);
        }
        if (reached.isLoopbackAddress()) {
            var local = new LinkedHashMap<String, Map<StorageNode.Portal, Integer>>();
            add(reached, local);
            local.forEach(portals::putIfAbsent);
        }
        var nodes = new ArrayList<StorageNode>();
        portals.forEach((name, where) -> server.spec(name)
                .ifPresent(spec -> nodes.add(new StorageNode(name, alias(spec), where))));
        return new Registration(entity, nodes);
    }

    private void add(InetAddress reached, Map<String, Map<StorageNode.Portal, Integer>> to) {
        for (DiscoveredTarget target : server.discoverable(new InetSocketAddress(reached, 0))) {
            for (TargetAddress address : target.addresses()) {
                try {
                    InetAddress host = InetAddress.getByName(address.host());
                    unknown.remove(address.host());
                    to.computeIfAbsent(target.name(), _ -> new LinkedHashMap<>())
                            .putIfAbsent(new StorageNode.Portal(host, address.port()),
                                    address.portalGroupTag().orElse(1));
                } catch (UnknownHostException e) {
                    if (unknown.add(address.host())) {
                        LOG.log(System.Logger.Level.WARNING,
                                "portal {0} is not registered: its host name cannot be resolved",
                                address);
                    }
                }
            }
        }
    }

    /** Addresses at which other machines may reach this one. */
    private static List<InetAddress> ownAddresses() throws IOException {
        return NetworkInterface.networkInterfaces().filter(IsnsEntry::isUp)
                .flatMap(NetworkInterface::inetAddresses)
                .filter(address -> !address.isLoopbackAddress() && !address.isLinkLocalAddress())
                .toList();
    }

    private static boolean isUp(NetworkInterface one) {
        try {
            return one.isUp();
        } catch (IOException e) {
            return false; // it has just gone
        }
    }

    private static String alias(TargetSpec spec) {
        String alias = spec.alias().replace('\0', ' ');
        while (alias.getBytes(StandardCharsets.UTF_8).length > MAX_ALIAS_BYTES) {
            alias = alias.substring(0, alias.offsetByCodePoints(alias.length(), -1));
        }
        return alias;
    }
}
