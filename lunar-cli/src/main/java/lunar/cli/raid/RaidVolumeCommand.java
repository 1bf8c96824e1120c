package lunar.cli.raid;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import lunar.block.DeviceUri;
import lunar.cli.command.Console;
import lunar.cli.command.DeviceCommand;
import lunar.cli.command.Failure;
import lunar.cli.config.ConfigOption;
import lunar.cli.config.VolumeTable;
import lunar.cli.config.VolumeTableFile;
import lunar.cli.config.VolumeUris;
import lunar.cli.raid.control.ControlClient;
import lunar.cli.raid.control.LocalVolume;
import lunar.cli.raid.control.VolumeControl;
import lunar.raid.service.VolumeOwner;
import lunar.raid.service.VolumeSpec;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** Base class of the commands on one volume. */
abstract class RaidVolumeCommand extends DeviceCommand {
    private static final long LOOK_MS = 20;
    private static final int MAX_LOOKS = 250;

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

    final ConfigOption config() { return config; }

    final VolumeSpec spec() throws Failure { return volumes().volume(volume); }

    /**
     * The volume where it runs, if some process runs it.
     *
     * @throws Failure where one runs it that this command does not reach
     */
    final Optional<VolumeControl> running(VolumeSpec spec) throws IOException, Failure {
        Optional<VolumeControl> near = ControlClient.find(spec, volumes().uuid(spec));
        if (near.isPresent()) {
            return near;
        }
        Optional<VolumeOwner> owner = MemberUri.owner(spec);
        if (owner.isEmpty() || spec.options().ownership().takesOver()) {
            return Optional.empty();
        }
        Optional<VolumeControl> there = ControlClient.find(owner.get());
        if (there.isEmpty()) {
            throw new Failure(spec.title() + " is in use by " + owner.get().title()
                    + (owner.get().isHere()
                            ? " (user " + owner.get().record().process().uid() + "), which this"
                                    + " command cannot reach: run it as that user"
                            : ": run this command there"));
        }
        return there;
    }

    /** The volume where it runs; else this command runs it until it ends. */
    final VolumeControl reach(VolumeSpec spec) throws IOException, Failure {
        Optional<VolumeControl> there = running(spec);
        return there.isPresent() ? there.get() : LocalVolume.open(spec);
    }

    /**
     * Adds a device of a volume to the config file, unless the process that runs the volume does so.
     *
     * @param status status of the volume after the change
     * @param before the previous member, without secrets; may be empty
     * @param after the new member
     */
    final void keepNamed(VolumeSpec spec, JsonNode status, String before, String after)
            throws IOException, Failure, InterruptedException {
        Optional<VolumeTable> table = volumes().table(spec.name())
                .filter(one -> one.members().equals(spec.members()));
        if (table.isEmpty()) {
            return; // its URI says all, or it is done
        }
        Path file = volumes().file().toAbsolutePath().normalize();
        if (status.path("config").asString("").equals(file.toString())) {
            for (int i = 0; i < MAX_LOOKS && !isNamed(spec, after); i++) {
                Thread.sleep(LOOK_MS);
            }
        } else {
            rename(spec, table.get(), before, after);
        }
        if (!isNamed(spec, after)) {
            console().remark("the config file " + volumes().file() + " does not name "
                    + DeviceUri.withoutSecret(after) + "; add it to its members"
                    + (before.isEmpty() ? "" : " in place of " + before));
        }
    }

    private boolean isNamed(VolumeSpec spec, String uri) throws Failure {
        return volumes().table(spec.name()).filter(one -> one.members().contains(uri)).isPresent();
    }

    private void rename(VolumeSpec spec, VolumeTable table, String before, String after)
            throws IOException, Failure {
        List<String> known = table.members().stream()
                .filter(one -> DeviceUri.withoutSecret(one).equals(before)).toList();
        if (known.size() == 1 && !known.getFirst().equals(after)) {
            new VolumeTableFile(volumes().file()).replace(spec.name(), known.getFirst(), after);
        }
    }

    /** The result: what the volume is for machines, a line for people. */
    final void tell(JsonNode status, String line) {
        tell(json, status, line);
    }

    /** The result where there is no volume any longer. */
    final void tellEnd(VolumeSpec spec, Optional<UUID> uuid, String what, String line) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("volume", spec.title());
        uuid.ifPresent(one -> tree.put("uuid", one.toString()));
        tree.put("state", what);
        tell(json, tree, line);
    }
}
