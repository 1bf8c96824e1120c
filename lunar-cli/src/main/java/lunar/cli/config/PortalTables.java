package lunar.cli.config;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import lunar.iscsi.spi.TlsFiles;
import lunar.iscsi.spi.Transports;
import lunar.iscsi.text.TargetAddress;
import lunar.server.ServerPlan;
import lunar.target.Absence;

/** Reads the portals of a config file: {@code portals} at the top level, and each {@code [[portal-group]]}. */
final class PortalTables {
    static final Set<String> GROUP_KEYS = Set.of("tag", "portals", "moved");
    static final Set<String> PORTAL_KEYS = Set.of("listen", "advertise", "transport",
            "certificate", "key", "client-ca");
    static final Set<String> MOVED_KEYS = Set.of("to", "permanent");
    private static final Set<String> TRANSPORTS = new TreeSet<>(
            Set.of(Transports.ISCSI, Transports.ISCSIS, Transports.ISER));
    private static final List<String> TLS_KEYS = List.of("certificate", "key", "client-ca");
    private static final int MAX_TAG = 0xffff;
    private static final String EXAMPLE = "127.0.0.1:3260";

    private final List<Placed> portals = new ArrayList<>();
    private final Set<Integer> tags = new HashSet<>();
    /** Transports by address, with "iser " in front for RDMA, whose ports are not those of TCP. */
    private final Map<String, String> seen = new HashMap<>();

    private PortalTables() {}

    /**
     * A portal, and where messages about its files belong.
     *
     * @param files place of its certificate, or of the portal if it has none
     */
    record Placed(ServerPlan.Listen portal, Place files) {}

    /** Portals and the tags of their groups, also of groups whose portals are wrong. */
    record Portals(List<Placed> placed, Set<Integer> tags) {
        List<ServerPlan.Listen> portals() { return placed.stream().map(Placed::portal).toList(); }
    }

    static Portals read(TomlTable root) {
        var reader = new PortalTables();
        reader.addPortals(root, ServerPlan.DEFAULT_GROUP, Optional.empty());
        if (!reader.portals.isEmpty()) {
            reader.tags.add(ServerPlan.DEFAULT_GROUP);
        }
        root.tables("portal-group").forEach(reader::addGroup);
        reader.tags.add(ServerPlan.DEFAULT_GROUP);
        return new Portals(reader.portals, reader.tags);
    }

    private void addGroup(TomlTable table) {
        OptionalInt tag = table.number("tag", 1, MAX_TAG);
        if (tag.isEmpty()) {
            table.requireKnown(GROUP_KEYS, " of a portal group");
            if (table.lacks("tag", GROUP_KEYS)) {
                table.wrong("a portal group has no 'tag'; give it a number from 1 to 65535");
            }
            return;
        }
        TomlTable group = table.named("portal group " + tag.getAsInt());
        group.requireKnown(GROUP_KEYS, " of a portal group");
        if (!tags.add(tag.getAsInt())) {
            group.wrong("tag",
                    "it is configured twice" + (tag.getAsInt() == ServerPlan.DEFAULT_GROUP
                            ? "; the 'portals' at the top level are group 1"
                            : ""));
        }
        addPortals(group, tag.getAsInt(), moved(group));
        if (group.lacks("portals", GROUP_KEYS) || group.isEmptyList("portals")) {
            group.wrong("it has no 'portals'; add the addresses to listen on");
        }
    }

    private void addPortals(TomlTable table, int group, Optional<Absence.Moved> moved) {
        portals.addAll(table.<Placed>list("portals", EXAMPLE,
                text -> table.parse("portals", text, Portal::parse)
                        .flatMap(at -> listen(table, text.place(), at, group, Optional.empty(),
                                moved, Transports.ISCSI, TlsFiles.NONE))
                        .map(listen -> new Placed(listen, text.place())),
                portal -> {
                    portal.requireKnown(PORTAL_KEYS, " of a portal");
                    if (portal.lacks("listen", PORTAL_KEYS)) {
                        portal.wrong("a portal has no 'listen'; write for example { listen = \""
                                + EXAMPLE + "\", advertise = \"san.example.org:3260\" }");
                    }
                    Optional<TargetAddress> advertised = portal.parsed("advertise",
                            PortalTables::address);
                    String transport = portal.parsed("transport", PortalTables::transport)
                            .orElse(Transports.ISCSI);
                    TlsFiles tls = tls(portal, transport);
                    return portal.parsed("listen", Portal::parse)
                            .flatMap(at -> listen(portal, portal.place("listen"), at, group,
                                    advertised, moved, transport, tls))
                            .map(listen -> new Placed(listen, portal.place("certificate")));
                }));
    }

    private static TlsFiles tls(TomlTable portal, String transport) {
        Optional<Path> certificate = portal.parsed("certificate", PortalTables::file);
        Optional<Path> key = portal.parsed("key", PortalTables::file);
        Optional<Path> authorities = portal.parsed("client-ca", PortalTables::file);
        if (transport.equals(Transports.ISCSIS)) {
            if (portal.lacks("certificate", PORTAL_KEYS) || portal.lacks("key", PORTAL_KEYS)) {
                portal.wrong("a portal with transport \"iscsis\" needs 'certificate' and 'key';"
                        + " name its PEM files");
            }
        } else {
            for (String name : TLS_KEYS) {
                if (portal.has(name)) {
                    portal.wrong(name,
                            "'" + name + "' is for a portal with transport = \"iscsis\"");
                }
            }
        }
        return certificate.isPresent() && key.isPresent()
                ? new TlsFiles(authorities, certificate, key)
                : TlsFiles.NONE;
    }

    private static Path file(String text) {
        try {
            return Path.of(text);
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException("'" + text + "' is not the name of a file", e);
        }
    }

    private static String transport(String text) {
        if (!TRANSPORTS.contains(text)) {
            throw new IllegalArgumentException(
                    "'" + text + "' is not a transport; there are " + TRANSPORTS);
        }
        return text;
    }

    /** Port 0 is another free one each time. */
    private Optional<ServerPlan.Listen> listen(TomlTable table, Place place, Portal at, int group,
            Optional<TargetAddress> advertised, Optional<Absence.Moved> moved, String transport,
            TlsFiles tls) {
        if (at.port() != 0) {
            String other = seen.putIfAbsent(
                    (transport.equals(Transports.ISER) ? "iser " : "") + at, transport);
            if (other != null) {
                table.wrong(place, "portal " + at + (other.equals(transport)
                        ? " is configured twice"
                        : " is configured for " + other + " and " + transport + ", which share"
                                + " the ports of TCP; give one of them another port"));
            }
        }
        return Optional.of(new ServerPlan.Listen(at.host(), at.port(), group, advertised, moved,
                transport, tls));
    }

    /** {@code moved = "HOST:PORT"}, for now, or {@code moved = { to = "HOST:PORT", permanent = true }}. */
    static Optional<Absence.Moved> moved(TomlTable table) {
        if (!table.isTable("moved")) {
            return table.parsed("moved", PortalTables::address)
                    .map(to -> new Absence.Moved(to, false));
        }
        TomlTable moved = table.table("moved").orElseThrow().requireKnown(MOVED_KEYS,
                " of 'moved'");
        if (moved.lacks("to", MOVED_KEYS)) {
            moved.wrong("'moved' has no 'to'; write for example { to = \"192.0.2.1:3260\","
                    + " permanent = true }");
        }
        boolean permanent = moved.flag("permanent");
        return moved.parsed("to", PortalTables::address)
                .map(to -> new Absence.Moved(to, permanent));
    }

    private static TargetAddress address(String text) {
        Portal portal = Portal.parse(text);
        if (portal.port() == 0) {
            throw new IllegalArgumentException(
                    "'" + text + "' has port 0, to which initiators cannot connect");
        }
        return new TargetAddress(portal.host(), portal.port(), OptionalInt.empty());
    }
}
