package lunar.cli.serve;

import lunar.cli.config.IsnsAddress;

import lunar.cli.command.DeviceCommand;

import lunar.cli.command.Console;
import lunar.cli.command.Errors;
import lunar.cli.command.Failure;
import lunar.cli.command.Json;
import lunar.cli.config.Portal;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import lunar.initiator.ChapOptions;
import lunar.initiator.Initiator;
import lunar.initiator.InitiatorOptions;
import lunar.initiator.SessionOptions;
import lunar.iscsi.LoginException;
import lunar.iscsi.LoginStatus;
import lunar.iscsi.login.ChapAlgorithm;
import lunar.iscsi.text.DiscoveredTarget;
import lunar.iscsi.text.TargetAddress;
import lunar.isns.IsnsDiscovery;
import lunar.isns.IsnsServer;
import lunar.isns.IsnsTiming;
import lunar.server.CredentialFiles;
import lunar.server.InvalidPlanException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lunar discover}: which targets a portal has, and where they are. */
@Command(name = "discover",
        description = "List the targets of a portal or an iSNS server: one line with name and "
                + "portal per address.",
        footer = {
                "", "Examples:", "  lunar discover 127.0.0.1",
                "  lunar discover 10.0.0.5:3260 --chap backup:@secret.txt --json",
                "  lunar discover 127.0.0.1 --luns", "  lunar discover isns://10.0.0.9"})
public final class DiscoverCommand extends DeviceCommand {
    private static final List<ChapAlgorithm> STRONGEST = List.of(ChapAlgorithm.SHA3_256,
            ChapAlgorithm.SHA256, ChapAlgorithm.SHA1, ChapAlgorithm.MD5);

    /** Place to ask for targets. */
    sealed interface Place {
        record OfPortal(Portal portal) implements Place {}

        record OfIsns(IsnsServer server) implements Place {}

        final class Converter implements ITypeConverter<Place> {
            @Override
            public Place convert(String value) {
                return value.startsWith(IsnsAddress.SCHEME)
                        ? new OfIsns(new IsnsAddress.Converter().convert(value))
                        : new OfPortal(new Portal.Converter().convert(value));
            }
        }
    }

    @Parameters(paramLabel = "[isns://]HOST[:PORT]", converter = Place.Converter.class,
            description = "The portal, or the iSNS server. The default port is 3260, or 3205 if it is "
                    + "given.")
    private Place place = new Place.OfPortal(Portal.DEFAULT);

    @Option(names = "--chap", paramLabel = "USER:@FILE",
            description = "CHAP user of this initiator; the file holds the secret.")
    private @Nullable String chap;

    @Option(names = "--mutual-chap", paramLabel = "USER:@FILE",
            description = "CHAP user by which the portal must authenticate itself; the file holds the secret.")
    private @Nullable String mutualChap;

    @Option(names = "--chap-algorithms", paramLabel = "LIST",
            description = "CHAP algorithms to offer, in order of preference. Default: "
                    + "sha3-256,sha-256,sha-1,md5; if the login fails, once more with sha-256 last, which "
                    + "older targets confuse with sha-1.")
    private @Nullable String chapAlgorithms;

    @Option(names = "--luns",
            description = "Log in to each target, and list its logical units: disks with their sizes, object stores "
                    + "with capacity, use and partitions.")
    private boolean luns;

    @Option(names = "--json", description = "Write JSON.")
    private boolean json;

    public DiscoverCommand(Console console) { super(console); }

    @Override
    protected int execute() throws Exception {
        List<DiscoveredTarget> targets = switch (place) {
            case Place.OfPortal(Portal portal) -> ofPortal(portal);
            case Place.OfIsns(IsnsServer server) -> ofIsns(server);
        };
        Map<String, List<UnitList.Unit>> units = luns ? units(targets) : Map.of();
        if (json) {
            console().out().println(Json.text(Map.of("targets", tree(targets, units))));
            return 0;
        }
        for (DiscoveredTarget target : targets) {
            for (TargetAddress address : target.addresses()) {
                console().out().println(target.name() + " " + portal(address)
                        + group(address));
            }
            units.getOrDefault(target.name(), List.of())
                    .forEach(unit -> console().out().println("  " + unit.line()));
        }
        if (targets.isEmpty()) {
            console().remark(switch (place) {
                case Place.OfPortal(Portal portal) -> portal;
                case Place.OfIsns(IsnsServer server) -> server;
            } + " lists no targets for this initiator");
        }
        return 0;
    }

    private List<DiscoveredTarget> ofPortal(Portal portal) throws IOException, Failure {
        if (portal.port() == 0) {
            throw wrongUsage(
                    "port 0 is not a valid port to connect to; write for example " + portal.host()
                            + ":3260");
        }
        try (var initiator = Initiator.create(InitiatorOptions.DEFAULT_NAME)) {
            return authenticated(SessionOptions.of(portal.host(), portal.port(), ""), secrets(),
                    initiator::discover);
        }
    }

    /** A login, with what is done after it. */
    @FunctionalInterface
    private interface Login<T> {
        T with(SessionOptions options) throws IOException;
    }

    /**
     * Logs in with the strongest CHAP algorithms first. If that fails, the target may have taken the number of SHA-256
     * for SHA-1: it logs in again with SHA-256 last.
     */
    private <T> T authenticated(SessionOptions at, Optional<ChapOptions> secrets, Login<T> login)
            throws IOException {
        if (secrets.isEmpty()) {
            return login.with(at);
        }
        if (chapAlgorithms != null) {
            return login.with(at.withChap(secrets.get()));
        }
        try {
            return login.with(at.withChap(secrets.get().withAlgorithms(STRONGEST)));
        } catch (LoginException e) {
            if (e.statusClass() != LoginStatus.AUTHENTICATION_FAILURE.statusClass()
                    || e.statusDetail() != LoginStatus.AUTHENTICATION_FAILURE.detail()) {
                throw e;
            }
            return login.with(at.withChap(secrets.get()));
        }
    }

    /** Logs in to each target at its first address that works, with the secrets of discovery. */
    private Map<String, List<UnitList.Unit>> units(List<DiscoveredTarget> targets)
            throws IOException, Failure {
        Optional<ChapOptions> secrets = secrets();
        var units = new LinkedHashMap<String, List<UnitList.Unit>>();
        try (var initiator = Initiator.create(InitiatorOptions.DEFAULT_NAME)) {
            for (DiscoveredTarget target : targets) {
                for (TargetAddress address : target.addresses()) {
                    SessionOptions at = SessionOptions.of(address.host(), address.port(),
                            target.name());
                    try {
                        units.put(target.name(), authenticated(at, secrets,
                                options -> UnitList.of(initiator, options)));
                        break;
                    } catch (IOException e) {
                        console().remark(Errors.message(e));
                    }
                }
            }
        }
        return units;
    }

    private Optional<ChapOptions> secrets() throws Failure {
        if (chap == null) {
            if (mutualChap != null || chapAlgorithms != null) {
                throw wrongUsage((mutualChap != null ? "--mutual-chap" : "--chap-algorithms")
                        + " needs --chap too: mutual CHAP authenticates both ends");
            }
            return Optional.empty();
        }
        var credentials = new CredentialFiles(Serving.listener(console()));
        try {
            ChapOptions options = ChapOptions.of(credentials.read("--chap", chap));
            if (mutualChap != null) {
                options = options.withTarget(credentials.read("--mutual-chap", mutualChap));
            }
            return Optional.of(chapAlgorithms == null
                    ? options
                    : options.withAlgorithms(
                            ChapOption.algorithms(chapAlgorithms)));
        } catch (IllegalArgumentException | InvalidPlanException e) {
            throw new Failure(String.valueOf(e.getMessage()), e);
        }
    }

    private List<DiscoveredTarget> ofIsns(IsnsServer server) throws IOException {
        if (chap != null || mutualChap != null || chapAlgorithms != null) {
            throw wrongUsage("iSNS has no authentication; omit --chap");
        }
        return IsnsDiscovery
                .targets(server, InitiatorOptions.DEFAULT_NAME, IsnsTiming.DEFAULT).stream()
                .map(node -> new DiscoveredTarget(node.name(),
                        node.portals().entrySet().stream()
                                .map(portal -> new TargetAddress(
                                        portal.getKey().address().getHostAddress(),
                                        portal.getKey().port(),
                                        OptionalInt.of(portal.getValue())))
                                .toList()))
                .toList();
    }

    private static List<Object> tree(List<DiscoveredTarget> targets,
            Map<String, List<UnitList.Unit>> units) {
        var list = new ArrayList<>();
        for (DiscoveredTarget target : targets) {
            var entry = new LinkedHashMap<String, Object>();
            entry.put("iqn", target.name());
            entry.put("portals", target.addresses().stream().map(DiscoverCommand::tree).toList());
            if (units.containsKey(target.name())) {
                entry.put("luns", units.getOrDefault(target.name(), List.of()).stream()
                        .map(UnitList.Unit::tree).toList());
            }
            list.add(entry);
        }
        return list;
    }

    private static Map<String, Object> tree(TargetAddress address) {
        var entry = new LinkedHashMap<String, Object>();
        entry.put("portal", portal(address));
        address.portalGroupTag().ifPresent(tag -> entry.put("group", tag));
        return entry;
    }

    private static String portal(TargetAddress address) {
        return new Portal(address.host(), address.port()).toString();
    }

    private static String group(TargetAddress address) {
        return address.portalGroupTag().isPresent()
                ? " group " + address.portalGroupTag().getAsInt()
                : "";
    }
}
