package lunar.cli;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.UUID;
import lunar.cli.raid.ControlClient;
import lunar.cli.raid.LocalVolume;
import lunar.cli.raid.VolumeControl;
import lunar.raid.run.VolumeSpec;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** What the commands on one volume have in common. */
abstract class RaidVolumeCommand extends DeviceCommand {
    @Parameters(index = "0", paramLabel = "VOLUME", description = "The volume, such as raid5:vol.")
    private String volume = "";

    @Mixin
    private final ConfigOption config = new ConfigOption();

    @Option(names = "--json", description = "Write JSON.")
    private boolean json;

    RaidVolumeCommand(Console console) { super(console); }

    final String uri() { return volume; }

    final boolean isJson() { return json; }

    final VolumeUris volumes() { return config.volumes(); }

    final VolumeSpec spec() throws Failure { return volumes().volume(volume); }

    /** The volume where it runs, if some process runs it. */
    final Optional<VolumeControl> running(VolumeSpec spec) throws IOException, Failure {
        return ControlClient.find(spec, volumes().uuid(spec));
    }

    /** The volume where it runs; else this command runs it until it ends. */
    final VolumeControl reach(VolumeSpec spec) throws IOException, Failure {
        Optional<VolumeControl> there = running(spec);
        return there.isPresent() ? there.get() : LocalVolume.open(spec);
    }

    /** The result: what the volume is for machines, a line for people. */
    final void tell(JsonNode status, String line) {
        console().out().println(json ? Json.text(status) : line);
    }

    /** The result where there is no volume any more. */
    final void tellEnd(VolumeSpec spec, Optional<UUID> uuid, String what, String line) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("volume", spec.title());
        uuid.ifPresent(one -> tree.put("uuid", one.toString()));
        tree.put("state", what);
        console().out().println(json ? Json.text(tree) : line);
    }
}
