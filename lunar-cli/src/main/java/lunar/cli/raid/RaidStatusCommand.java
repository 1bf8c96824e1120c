package lunar.cli.raid;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import lunar.admin.client.AdminClient;
import lunar.admin.client.UnreachableException;
import lunar.cli.admin.ServerAddress;
import lunar.cli.command.Console;
import lunar.cli.command.DeviceCommand;
import lunar.cli.command.Failure;
import lunar.cli.command.Json;
import lunar.cli.config.ConfigOption;
import lunar.cli.config.VolumeTable;
import lunar.cli.raid.control.AdminVolume;
import lunar.cli.raid.control.ControlClient;
import lunar.cli.raid.control.StatusPicture;
import lunar.cli.raid.control.StoppedVolume;
import lunar.cli.raid.control.VolumeControl;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Candidate;
import lunar.raid.metadata.record.Superblock;
import lunar.raid.metadata.record.SuperblockReading;
import lunar.raid.service.VolumeHealth;
import lunar.raid.service.VolumeOwner;
import lunar.raid.service.VolumeSpec;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** {@code lunar raid status}: how volumes are. */
@Command(name = "status",
        description = "Show a volume: its slots, background work, and its read and write rates."
                + " A stopped volume is only examined. The exit status is 3 if a volume is degraded,"
                + " rebuilding or failed, or if blocks have lost their content.",
        footer = {
                "", "Examples:", "  lunar raid status raid5:vol --watch",
                "  lunar raid status --json",
                "  lunar raid status --address 10.0.0.5:9460 --token-file /etc/lunar/token"})
final class RaidStatusCommand extends DeviceCommand {
    private static final long WATCH_MS = 1000;
    private static final int UNSOUND = 3;
    private static final Set<String> UNSOUND_STATES = Set.of(VolumeHealth.DEGRADED.toString(),
            VolumeHealth.REBUILDING.toString(), VolumeHealth.FAILED.toString());

    @Parameters(arity = "0..1", paramLabel = "VOLUME",
            description = "The volume. Default: all volumes of the config file.")
    private String volume = "";

    @Mixin
    private final ConfigOption config = new ConfigOption();

    @Mixin
    private final ServerAddress server = new ServerAddress();

    @Option(names = "--watch", description = "Refresh each second, until Ctrl-C.")
    private boolean watch;

    @Option(names = "--json", description = "Write JSON.")
    private boolean json;

    RaidStatusCommand(Console console) { super(console); }

    @Override
    protected int execute() throws Exception {
        if (watch && (json || !console().isTerminal())) {
            throw wrongUsage("--watch needs a terminal; run the command repeatedly instead");
        }
        Optional<AdminClient> client = server.client(config);
        while (true) {
            List<JsonNode> all = client.isPresent() ? served(client.get()) : here();
            show(all);
            if (!watch) {
                return all.stream().allMatch(RaidStatusCommand::isSound) ? 0 : UNSOUND;
            }
            Thread.sleep(WATCH_MS);
        }
    }

    private List<JsonNode> here() throws IOException, Failure {
        return volume.isEmpty() ? all() : List.of(status(config.volumes().volume(volume)));
    }

    /** Returns the state of the volume, or all, that a server runs. */
    private List<JsonNode> served(AdminClient client) throws IOException, Failure {
        try {
            List<JsonNode> all = volume.isEmpty()
                    ? AdminVolume.all(client).valueStream().toList()
                    : List.of(new AdminVolume(client, volume).status());
            if (all.isEmpty()) {
                throw new Failure("the server serves no volumes");
            }
            return all;
        } catch (UnreachableException e) {
            throw ServerAddress.unreachable(e);
        }
    }

    /** Whether all members are present and up to date, and no block has lost its content. */
    private static boolean isSound(JsonNode status) {
        return !UNSOUND_STATES.contains(status.path("state").asString(""))
                && status.path("badBlocks").asLong(0) == 0;
    }

    private void show(List<JsonNode> all) {
        if (json && volume.isEmpty()) {
            var tree = new LinkedHashMap<String, Object>();
            tree.put("volumes", all);
            console().out().println(Json.text(tree));
            return;
        }
        if (json) {
            console().out().println(Json.text(all.getFirst()));
            return;
        }
        var picture = new StatusPicture(console().isTerminal());
        var lines = new ArrayList<String>();
        for (JsonNode one : all) {
            lines.addAll(picture.lines(one));
        }
        if (watch) {
            console().out().print("\u001b[H\u001b[2J");
        }
        lines.forEach(console().out()::println);
        console().out().flush();
    }

    private List<JsonNode> all() throws IOException, Failure {
        List<VolumeTable> tables = config.volumes().tables();
        if (tables.isEmpty()) {
            throw new Failure("the config file " + config.volumes().file() + " has no volumes;"
                    + " specify one, or another file with --config");
        }
        var all = new ArrayList<JsonNode>();
        for (VolumeTable table : tables) {
            Level level = table.level().isPresent() ? table.level().get() : level(table);
            all.add(status(table.spec(level)));
        }
        return all;
    }

    /** Returns the level from the members' superblocks, where the file does not say it. */
    private static Level level(VolumeTable table) throws Failure {
        for (Candidate one : MemberUri.look(table.members())) {
            if (one.reading() instanceof SuperblockReading.Found(Superblock found)) {
                return found.volume().description().level();
            }
        }
        throw new Failure("volume '" + table.name() + "' has no readable member, and no"
                + " 'level' in the config file: write one, as in level = \"raid5\"");
    }

    private JsonNode status(VolumeSpec spec) throws IOException, Failure {
        Optional<UUID> uuid = config.volumes().uuid(spec);
        Optional<VolumeControl> running = ControlClient.find(spec, uuid);
        if (running.isPresent()) {
            try (VolumeControl there = running.get()) {
                return there.status();
            }
        }
        Optional<VolumeOwner> owner = MemberUri.owner(spec);
        Optional<VolumeControl> reached = owner.isEmpty()
                ? Optional.empty()
                : ControlClient.find(owner.get());
        if (reached.isPresent()) {
            try (VolumeControl there = reached.get()) {
                return there.status();
            }
        }
        var uris = new ArrayList<>(spec.members());
        uris.addAll(spec.spares());
        return StoppedVolume.status(spec, MemberUri.look(uris), owner);
    }
}
