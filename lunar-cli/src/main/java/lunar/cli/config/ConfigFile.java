package lunar.cli.config;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import lunar.cli.command.Failure;
import lunar.iscsi.login.ChapAlgorithm;
import lunar.iscsi.spi.Polling;
import lunar.isns.IsnsServer;
import lunar.server.DeviceOpener;
import lunar.server.ServerPlan;
import lunar.target.SessionLimits;

/**
 * Reads the file of {@code serve --config}: all options of the command line under their names, any number of portal
 * groups and targets, and their initiators.
 *
 * <pre>
 * portals = ["127.0.0.1:3260", { listen = "192.0.2.1:3260", transport = "iser" }] # portal group 1
 * state = "/var/lib/lunar"                  # reservations and saved mode pages
 * isns = "10.0.0.9"                         # iSNS server where the targets are registered
 * chap = "backup:@secret.txt"               # for every target that has none of its own
 * chap-algorithms = ["sha3-256", "sha-256"] # so that MD5 and SHA-1 are not
 *
 * [limits]
 * sessions-per-initiator = 8
 *
 * [admin]
 * socket = "/run/lunar/admin.sock"
 *
 * [[portal-group]]
 * tag = 2
 * portals = ["[fd00::5]:3260", { listen = "0.0.0.0:3261", advertise = "san.example.org:3260" }]
 *
 * [[target]]
 * iqn = "iqn.2026-11.org.example:disk"
 * groups = [1, 2]                           # where it can be reached; everywhere if nothing is said
 * luns = ["file:disk.img?size=10GiB", { lun = 7, uri = "ram:1GiB", removable = true }]
 * access = { 2 = "standby" }
 *
 * [[target.initiator]]                      # with the first of these, no other may use the target
 * name = "iqn.1993-08.org.debian:01:host"
 * luns = { 0 = 7 }                          # its LUN 0 is the target's LUN 7
 * read-only = true
 * </pre>
 *
 * {@link PortalTables}, {@link TargetTables} and {@link AdminTable} read the parts, {@link VolumeTable} the volumes of
 * all commands.
 *
 * @param portals addresses to listen on, empty if the file has none
 * @param targets targets to serve
 * @param volumes volumes of the file, which all commands may use
 * @param allowAnonymous whether logins from other machines need no authentication
 * @param headerDigest HeaderDigest
 * @param dataDigest DataDigest
 * @param state directory of the state that outlives the server
 * @param isns iSNS server where the targets are registered
 * @param discoveryChap credentials for discovery
 * @param chapAlgorithms CHAP algorithms of targets without their own
 * @param limits limits of sessions and connections
 * @param announceResets whether a unit first reports a reset to a new session
 * @param admin where the admin API listens
 */
public record ConfigFile(List<ServerPlan.Listen> portals, List<ServerPlan.Target> targets,
        List<VolumeTable> volumes, boolean allowAnonymous, Optional<Digest> headerDigest,
        Optional<Digest> dataDigest,
        Optional<Path> state, Optional<IsnsServer> isns, Optional<String> discoveryChap,
        List<ChapAlgorithm> chapAlgorithms, ServerPlan.Limits limits, boolean announceResets,
        AdminTable admin) {
    /** Settings without a file. */
    public static final ConfigFile NONE = new ConfigFile(List.of(), List.of(), List.of(),
            false, Optional.empty(),
            Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(),
            ChapAlgorithm.DEFAULT_ORDER, ServerPlan.Limits.DEFAULT, true, AdminTable.DEFAULT);

    static final Set<String> KEYS = Set.of("portals", "portal-group", "iqn", "luns", "chap",
            "mutual-chap", "discovery-chap", TargetTables.CHAP_ALGORITHMS, "allow-anonymous",
            "header-digest", "data-digest", "state", "isns", "limits", "target",
            "volume", "announce-resets", "rdma-provider", "admin");
    static final Set<String> LIMIT_KEYS = Set.of("sessions", "sessions-per-target",
            "sessions-per-initiator", "sessions-per-address", "max-time2wait", "max-time2retain",
            "connections", "connections-per-address", "connections-per-session", "loops", "poll");
    private static final int MAX_CONNECTIONS = 1 << 20;
    public static final int MAX_LOOPS = 1024;
    private static final int MAX_SESSION_CONNECTIONS = 0xffff;

    public ConfigFile {
        portals = List.copyOf(portals);
        targets = List.copyOf(targets);
        volumes = List.copyOf(volumes);
    }

    /**
     * Reads a file.
     *
     * @throws Failure if it cannot be read, or has an error; the message names the place of the first one
     */
    public static ConfigFile read(Path path) throws Failure {
        var errors = new ConfigErrors(path);
        ConfigFile file = of(TomlTable.read(path, errors));
        errors.require();
        return file;
    }

    /** Reads a file whose errors are reported to its {@link ConfigErrors}. */
    static ConfigFile of(TomlTable root) {
        root.requireKnown(KEYS, "");
        PortalTables.Portals portals = PortalTables.read(root);
        List<ChapAlgorithm> algorithms = TargetTables.chapAlgorithms(root)
                .orElse(ChapAlgorithm.DEFAULT_ORDER);
        List<VolumeTable> volumes = VolumeTable.read(root);
        return new ConfigFile(portals.portals(), targets(root, algorithms, portals.tags()),
                volumes, root.flag("allow-anonymous"),
                root.parsed("header-digest", Digest::parse),
                root.parsed("data-digest", Digest::parse), root.parsed("state", Path::of),
                root.parsed("isns", IsnsAddress::parse), root.credentials("discovery-chap"),
                algorithms, limits(root),
                !root.has("announce-resets") || root.flag("announce-resets"),
                AdminTable.read(root));
    }

    /** Returns a copy with other portals. */
    ConfigFile withPortals(List<ServerPlan.Listen> others) {
        return new ConfigFile(others, targets, volumes, allowAnonymous, headerDigest, dataDigest,
                state,
                isns, discoveryChap, chapAlgorithms, limits, announceResets, admin);
    }

    /** Returns the addresses to listen on: the default one if the file has none. */
    public List<ServerPlan.Listen> listens() {
        return portals.isEmpty() ? List.of(Portal.DEFAULT.listen()) : portals;
    }

    /** The plan of a server with this file alone. */
    public ServerPlan plan(DeviceOpener opener) {
        return new ServerPlan(listens(), targets, allowAnonymous,
                headerDigest.orElse(Digest.ALLOW).choice(),
                dataDigest.orElse(Digest.ALLOW).choice(), state, isns, discoveryChap,
                chapAlgorithms, limits, opener, announceResets);
    }

    private static List<ServerPlan.Target> targets(TomlTable root, List<ChapAlgorithm> algorithms,
            Set<Integer> groups) {
        var reader = new TargetTables(root.credentials("chap"),
                root.credentials("mutual-chap"), algorithms,
                groups);
        var targets = new ArrayList<ServerPlan.Target>();
        if (root.has("luns")) {
            targets.add(reader.atTop(root));
        } else if (root.has("iqn")) {
            root.wrong("iqn", "'iqn' at the top level needs 'luns'");
        }
        var names = new HashSet<String>();
        targets.forEach(target -> names.add(target.iqn()));
        for (TomlTable table : root.tables("target")) {
            Optional<ServerPlan.Target> target = reader.read(table);
            if (target.isPresent() && !names.add(target.get().iqn())) {
                table.wrong("iqn", "target " + target.get().iqn() + " is configured twice");
            } else {
                target.ifPresent(targets::add);
            }
        }
        return targets;
    }

    private static ServerPlan.Limits limits(TomlTable root) {
        ServerPlan.Limits usual = ServerPlan.Limits.DEFAULT;
        usual = usual.withLoops(usual.loops().withDevice(root.text("rdma-provider")));
        Optional<TomlTable> table = root.table("limits");
        if (table.isEmpty()) {
            return usual;
        }
        TomlTable limits = table.get().requireKnown(LIMIT_KEYS, " of 'limits'")
                .named("limits");
        int connections = limits.number("connections", 1, MAX_CONNECTIONS)
                .orElse(usual.connections());
        return new ServerPlan.Limits(sessionLimits(limits, usual.sessions()), connections,
                limits.number("connections-per-address", 1, MAX_CONNECTIONS)
                        .orElse(SessionLimits.share(connections)),
                limits.number("connections-per-session", 1, MAX_SESSION_CONNECTIONS)
                        .orElse(usual.connectionsPerSession()),
                usual.loops()
                        .withCount(limits.number("loops", 1, MAX_LOOPS)
                                .orElse(usual.loops().count()))
                        .withPolling(limits.parsed("poll", Polling::parse)
                                .orElse(usual.loops().polling())));
    }

    private static SessionLimits sessionLimits(TomlTable limits, SessionLimits most) {
        int perServer = limits.number("sessions", 1, most.perServer()).orElse(most.perServer());
        return new SessionLimits(perServer,
                limits.number("sessions-per-target", 1, most.perTarget()).orElse(most.perTarget()),
                limits.number("sessions-per-initiator", 1, most.perInitiator())
                        .orElse(most.perInitiator()),
                limits.number("sessions-per-address", 1, most.perServer())
                        .orElse(SessionLimits.share(perServer)),
                limits.number("max-time2wait", 0, SessionLimits.MAX_SECONDS)
                        .orElse(most.maxTime2WaitSeconds()),
                limits.number("max-time2retain", 0, SessionLimits.MAX_SECONDS)
                        .orElse(most.maxTime2RetainSeconds()));
    }
}
