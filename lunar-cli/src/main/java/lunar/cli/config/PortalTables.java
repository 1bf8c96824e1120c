package lunar.cli.config;

import lunar.cli.command.Failure;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import lunar.iscsi.spi.Transports;
import lunar.iscsi.text.TargetAddress;
import lunar.server.ServerPlan;
import lunar.target.Absence;

/** Reads the portals of a config file: {@code portals} at the top level, and each {@code [[portal-group]]}. */
final class PortalTables {
    private static final Set<String> GROUP_KEYS = Set.of("tag", "portals", "moved");
    private static final Set<String> PORTAL_KEYS = Set.of("listen", "advertise", "transport");
    private static final Set<String> TRANSPORTS = new TreeSet<>(
            Set.of(Transports.ISCSI, Transports.ISER));
    private static final Set<String> MOVED_KEYS = Set.of("to", "permanent");
    private static final int MAX_TAG = 0xffff;
    private static final String EXAMPLE = "127.0.0.1:3260";

    private PortalTables() {}

    static List<ServerPlan.Listen> read(TomlTable root) throws Failure {
        List<ServerPlan.Listen> portals = new ArrayList<>(
                portals(root, ServerPlan.DEFAULT_GROUP, Optional.empty()));
        var tags = new HashSet<Integer>();
        if (!portals.isEmpty()) {
            tags.add(ServerPlan.DEFAULT_GROUP);
        }
        for (TomlTable table : root.tables("portal-group")) {
            table.requireKnown(GROUP_KEYS, " of a portal group");
            OptionalInt tag = table.number("tag", 1, MAX_TAG);
            if (tag.isEmpty()) {
                throw table.wrong("a portal group has no 'tag'; give it a number from 1 to 65535");
            }
            TomlTable group = table.named("portal group " + tag.getAsInt());
            if (!tags.add(tag.getAsInt())) {
                throw group.wrong(
                        "it is configured twice" + (tag.getAsInt() == ServerPlan.DEFAULT_GROUP
                                ? "; the 'portals' at the top level are group 1"
                                : ""));
            }
            List<ServerPlan.Listen> own = portals(group, tag.getAsInt(), moved(group));
            if (own.isEmpty()) {
                throw group.wrong("it has no 'portals'; add the addresses to listen on");
            }
            portals.addAll(own);
        }
        requireDifferent(root, portals);
        return portals;
    }

    private static List<ServerPlan.Listen> portals(TomlTable table, int group,
            Optional<Absence.Moved> moved) throws Failure {
        return table.list("portals", EXAMPLE,
                text -> listen(table.parse("portals", text, Portal::parse), group,
                        Optional.empty(), moved, Transports.ISCSI),
                portal -> {
                    portal.requireKnown(PORTAL_KEYS, " of a portal");
                    Optional<Portal> listen = portal.parsed("listen", Portal::parse);
                    if (listen.isEmpty()) {
                        throw portal
                                .wrong("a portal has no 'listen'; write for example { listen = \""
                                        + EXAMPLE + "\", advertise = \"san.example.org:3260\" }");
                    }
                    return listen(listen.get(), group,
                            portal.parsed("advertise", PortalTables::address), moved,
                            portal.parsed("transport", PortalTables::transport)
                                    .orElse(Transports.ISCSI));
                });
    }

    private static String transport(String text) {
        if (!TRANSPORTS.contains(text)) {
            throw new IllegalArgumentException(
                    "'" + text + "' is not a transport; there are " + TRANSPORTS);
        }
        return text;
    }

    private static ServerPlan.Listen listen(Portal at, int group,
            Optional<TargetAddress> advertised, Optional<Absence.Moved> moved,
            String transport) {
        return new ServerPlan.Listen(at.host(), at.port(), group, advertised, moved, transport);
    }

    /** Port 0 is another free one each time. */
    private static void requireDifferent(TomlTable root, List<ServerPlan.Listen> portals)
            throws Failure {
        var seen = new HashSet<String>();
        for (ServerPlan.Listen each : portals) {
            var portal = new Portal(each.host(), each.port());
            if (portal.port() != 0 && !seen.add(each.transport() + " " + portal)) {
                throw root.wrong("portal " + portal + " is configured twice");
            }
        }
    }

    /** {@code moved = "HOST:PORT"}, for now, or {@code moved = { to = "HOST:PORT", permanent = true }}. */
    static Optional<Absence.Moved> moved(TomlTable table) throws Failure {
        if (!table.isTable("moved")) {
            return table.parsed("moved", PortalTables::address)
                    .map(to -> new Absence.Moved(to, false));
        }
        TomlTable moved = table.table("moved").orElseThrow().requireKnown(MOVED_KEYS,
                " of 'moved'");
        Optional<TargetAddress> to = moved.parsed("to", PortalTables::address);
        if (to.isEmpty()) {
            throw moved.wrong("'moved' has no 'to'; write for example { to = \"192.0.2.1:3260\","
                    + " permanent = true }");
        }
        return Optional.of(new Absence.Moved(to.get(), moved.flag("permanent")));
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
