package lunar.cli.config;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import lunar.block.DeviceUri;
import lunar.iscsi.login.ChapAlgorithm;
import lunar.iscsi.spi.Polling;
import lunar.iscsi.spi.Transports;
import lunar.iscsi.text.TargetAddress;
import lunar.isns.IsnsServer;
import lunar.raid.service.RunOptions;
import lunar.raid.service.VolumeSpec;
import lunar.server.ServerPlan;
import lunar.target.Absence;
import lunar.target.SessionLimits;

/**
 * The effective configuration of a file as a tree of maps and lists, under the keys of the file: with all defaults,
 * with what targets inherit from the top level, and without secrets. As a config file, it means the same.
 */
public final class ConfigTree {
    private ConfigTree() {}

    /** Returns the tree of a file, whose maps keep their order. */
    public static Map<String, Object> of(ConfigFile file) {
        var tree = new LinkedHashMap<String, Object>();
        List<ServerPlan.Listen> portals = file.listens();
        var tags = new TreeSet<Integer>();
        portals.forEach(portal -> tags.add(portal.group()));
        Optional<List<Object>> main = group(portals, ServerPlan.DEFAULT_GROUP)
                .filter(_ -> moved(portals, ServerPlan.DEFAULT_GROUP).isEmpty());
        main.ifPresent(listed -> tree.put("portals", listed));
        file.limits().loops().device().ifPresent(name -> tree.put("rdma-provider", name));
        tree.put("chap-algorithms", algorithms(file.chapAlgorithms()));
        file.discoveryChap().ifPresent(user -> tree.put("discovery-chap", user));
        tree.put("announce-resets", file.announceResets());
        tree.put("allow-anonymous", file.allowAnonymous());
        tree.put("header-digest", file.headerDigest().orElse(Digest.ALLOW).text());
        tree.put("data-digest", file.dataDigest().orElse(Digest.ALLOW).text());
        file.state().ifPresent(path -> tree.put("state", path.toString()));
        file.isns().map(ConfigTree::isns).ifPresent(server -> tree.put("isns", server));
        tree.put("limits", limits(file.limits()));
        tree.put("admin", admin(file.admin()));
        var groups = tags.stream()
                .filter(tag -> tag != ServerPlan.DEFAULT_GROUP || main.isEmpty())
                .map(tag -> group(portals, (int) tag, moved(portals, tag))).toList();
        putList(tree, "portal-group", groups);
        putList(tree, "volume", file.volumes().stream().map(ConfigTree::volume).toList());
        putList(tree, "target",
                file.targets().stream().map(target -> target(target, tags)).toList());
        return tree;
    }

    private static void putList(Map<String, Object> tree, String key, List<?> list) {
        if (!list.isEmpty()) {
            tree.put(key, list);
        }
    }

    private static String isns(IsnsServer server) {
        return new Portal(server.host(), server.port()).toString();
    }

    private static List<String> algorithms(List<ChapAlgorithm> algorithms) {
        return algorithms.stream().map(ChapAlgorithm::text).toList();
    }

    // --- portals ---

    private static Map<String, Object> group(List<ServerPlan.Listen> portals, int tag,
            Optional<Absence.Moved> moved) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("tag", tag);
        tree.put("portals", group(portals, tag).orElse(List.of()));
        moved.ifPresent(to -> tree.put("moved", moved(to)));
        return tree;
    }

    private static Optional<List<Object>> group(List<ServerPlan.Listen> portals, int tag) {
        List<Object> listed = portals.stream().filter(portal -> portal.group() == tag)
                .map(ConfigTree::portal).toList();
        return listed.isEmpty() ? Optional.empty() : Optional.of(listed);
    }

    private static Optional<Absence.Moved> moved(List<ServerPlan.Listen> portals, int tag) {
        return portals.stream().filter(portal -> portal.group() == tag)
                .flatMap(portal -> portal.moved().stream()).findFirst();
    }

    private static Object portal(ServerPlan.Listen portal) {
        String listen = new Portal(portal.host(), portal.port()).toString();
        if (portal.advertised().isEmpty() && portal.transport().equals(Transports.ISCSI)) {
            return listen;
        }
        var tree = new LinkedHashMap<String, Object>();
        tree.put("listen", listen);
        portal.advertised().ifPresent(address -> tree.put("advertise", address(address)));
        tree.put("transport", portal.transport());
        portal.tls().certificate().ifPresent(file -> tree.put("certificate", file.toString()));
        portal.tls().key().ifPresent(file -> tree.put("key", file.toString()));
        portal.tls().authorities().ifPresent(file -> tree.put("client-ca", file.toString()));
        return tree;
    }

    private static String address(TargetAddress address) {
        return new Portal(address.host(), address.port()).toString();
    }

    private static Map<String, Object> moved(Absence.Moved moved) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("to", address(moved.to()));
        tree.put("permanent", moved.permanent());
        return tree;
    }

    // --- limits ---

    private static Map<String, Object> limits(ServerPlan.Limits limits) {
        SessionLimits sessions = limits.sessions();
        var tree = new LinkedHashMap<String, Object>();
        tree.put("sessions", sessions.perServer());
        tree.put("sessions-per-target", sessions.perTarget());
        tree.put("sessions-per-initiator", sessions.perInitiator());
        tree.put("sessions-per-address", sessions.perAddress());
        tree.put("max-time2wait", sessions.maxTime2WaitSeconds());
        tree.put("max-time2retain", sessions.maxTime2RetainSeconds());
        tree.put("connections", limits.connections());
        tree.put("connections-per-address", limits.connectionsPerAddress());
        tree.put("connections-per-session", limits.connectionsPerSession());
        tree.put("loops", limits.loops().count());
        tree.put("poll", poll(limits.loops().polling()));
        return tree;
    }

    private static Map<String, Object> admin(AdminTable admin) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("enabled", admin.enabled());
        admin.socket().ifPresent(socket -> tree.put("socket", socket.toString()));
        admin.listen().ifPresent(portal -> {
            tree.put("listen", portal.toString());
            admin.tokenFile().ifPresent(file -> tree.put("token-file", file.toString()));
            tree.put("allow-remote", admin.allowRemote());
            admin.tls().ifPresent(files -> {
                tree.put("certificate", files.certificate().toString());
                tree.put("key", files.key().toString());
                files.clientCa().ifPresent(ca -> tree.put("client-ca", ca.toString()));
            });
        });
        return tree;
    }

    private static String poll(Polling polling) {
        if (polling.equals(Polling.AUTO) || polling.maxNs() == 0) {
            return polling.maxNs() == 0 ? "off" : "auto";
        }
        long us = polling.maxNs() / 1000;
        return us % 1000 == 0 ? us / 1000 + "ms" : us + "us";
    }

    // --- targets ---

    private static Map<String, Object> target(ServerPlan.Target target, Set<Integer> tags) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("iqn", target.iqn());
        if (!target.alias().isEmpty()) {
            tree.put("alias", target.alias());
        }
        target.chap().ifPresent(user -> tree.put("chap", user));
        target.mutualChap().ifPresent(user -> tree.put("mutual-chap", user));
        tree.put("chap-algorithms", algorithms(target.chapAlgorithms()));
        tree.put("groups",
                List.copyOf(new TreeSet<>(target.groups().isEmpty() ? tags : target.groups())));
        if (!target.access().isEmpty()) {
            var access = new LinkedHashMap<String, Object>();
            new TreeMap<>(target.access()).forEach((tag, state) -> access.put(tag.toString(),
                    TargetTables.word(state)));
            tree.put("access", access);
        }
        target.absence().ifPresent(absence -> {
            switch (absence) {
                case Absence.Moved moved -> tree.put("moved", moved(moved));
                case Absence.Maintenance _ -> tree.put("maintenance", true);
                case Absence.Removed _ -> tree.put("removed", true);
            }
        });
        putList(tree, "luns", target.luns().entrySet().stream()
                .map(lun -> lun(lun.getKey(), lun.getValue())).toList());
        putList(tree, "initiator",
                target.initiators().stream().map(ConfigTree::initiator).toList());
        return tree;
    }

    private static Map<String, Object> lun(int number, ServerPlan.Lun lun) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("lun", number);
        tree.put("uri", DeviceUri.withoutSecret(lun.uri()));
        tree.put("removable", lun.removable());
        tree.put("rotational", lun.rotational());
        tree.put("read-only", lun.readOnly());
        tree.put("thick", lun.thick());
        lun.limit().ifPresent(limit -> tree.put("limit", limit.toString()));
        return tree;
    }

    private static Map<String, Object> initiator(ServerPlan.Initiator initiator) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("name", initiator.name());
        initiator.chap().ifPresent(user -> tree.put("chap", user));
        initiator.mutualChap().ifPresent(user -> tree.put("mutual-chap", user));
        initiator.luns().ifPresent(map -> {
            var luns = new LinkedHashMap<String, Object>();
            map.forEach((own, lun) -> luns.put(own.toString(), lun));
            tree.put("luns", luns);
        });
        tree.put("read-only", initiator.readOnly());
        initiator.limit().ifPresent(limit -> tree.put("limit", limit.toString()));
        return tree;
    }

    // --- volumes ---

    private static Map<String, Object> volume(VolumeTable volume) {
        RunOptions options = volume.options();
        var tree = new LinkedHashMap<String, Object>();
        tree.put("name", volume.name());
        volume.level().ifPresent(level -> tree.put("level", VolumeSpec.scheme(level)));
        volume.uuid().ifPresent(uuid -> tree.put("uuid", uuid.toString()));
        tree.put("members", uris(volume.members()));
        putList(tree, "spares", uris(volume.spares()));
        volume.journal().map(DeviceUri::withoutSecret)
                .ifPresent(uri -> tree.put("journal", uri));
        if (options.rebuildBytesPerSecond() != RunOptions.UNLIMITED) {
            tree.put("rebuild-rate", Long.toString(options.rebuildBytesPerSecond()));
        }
        long stallMs = options.stallTimeout().toMillis();
        tree.put("stall-timeout", stallMs == 0 ? "0" : stallMs + "ms");
        tree.put("degraded", options.degradedStart().toString());
        tree.put("verify-reads", options.verifyReads() ? "yes" : "no");
        return tree;
    }

    private static List<String> uris(List<String> uris) {
        return uris.stream().map(DeviceUri::withoutSecret).toList();
    }
}
