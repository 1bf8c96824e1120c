package lunar.cli.raid;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import lunar.block.DeviceUri;
import lunar.block.Devices;
import lunar.cli.command.Console;
import lunar.cli.command.Errors;
import lunar.cli.command.Failure;
import lunar.cli.config.VolumeTable;
import lunar.cli.config.VolumeTableFile;
import lunar.cli.raid.control.ControlHost;
import lunar.cli.raid.control.VolumeControl;
import lunar.raid.metadata.Assembly;
import lunar.raid.metadata.Candidate;
import lunar.raid.metadata.Consent;
import lunar.raid.metadata.record.Superblock;
import lunar.raid.metadata.record.SuperblockReading;
import lunar.raid.service.MemberSearch;
import lunar.raid.service.VolumeOwner;
import lunar.raid.service.VolumeSpec;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code lunar raid destroy}: the end of a volume. */
@Command(name = "destroy",
        description = "Destroy a volume: its members forget it, and the config file, too. Its data"
                + " cannot be had again.",
        footer = {"", "Example:", "  lunar raid destroy raid5:vol"})
final class RaidDestroyCommand extends RaidVolumeCommand {
    @Option(names = "--force",
            description = "Also where it runs, which stops it, and where members are missing.")
    private boolean force;

    RaidDestroyCommand(Console console) { super(console); }

    @Override
    protected int execute() throws Exception {
        logWarningsOnly();
        VolumeSpec spec = spec();
        stop(spec);
        var uris = new ArrayList<>(spec.members());
        uris.addAll(spec.spares());
        UUID uuid = whole(spec, MemberSearch.look(uris, Devices::open));
        int count;
        try (var _ = new ControlHost().claim(uuid, spec.title(), false)) {
            count = VolumeOwner.erase(spec, uuid, Devices::open, (uri, why) -> console()
                    .remark(DeviceUri.withoutSecret(uri) + " keeps what it has: "
                            + Errors.message(why)));
        }
        Optional<VolumeTable> table = volumes().table(spec.name())
                .filter(one -> one.members().equals(spec.members()));
        if (table.isPresent()) {
            new VolumeTableFile(volumes().file()).remove(spec.name());
        }
        tellEnd(spec, Optional.of(uuid), "destroyed", "destroyed " + spec.title() + ": " + count
                + " devices are free" + (table.isPresent()
                        ? ", and it is out of " + volumes().file()
                        : ""));
        return 0;
    }

    private void stop(VolumeSpec spec) throws IOException, Failure {
        Optional<VolumeControl> running = running(spec);
        if (running.isPresent()) {
            try (VolumeControl there = running.get()) {
                if (!force) {
                    throw new Failure(spec.title() + " runs in process "
                            + there.status().path("pid").asLong(0)
                            + ": stop it first, or add --force");
                }
                there.stop();
            }
        }
    }

    /** Which volume it is, once it is sure that it is all there. */
    private UUID whole(VolumeSpec spec, List<Candidate> candidates) throws Failure {
        UUID any = null;
        for (Candidate one : candidates) {
            if (one.reading() instanceof SuperblockReading.Found(Superblock found)
                    && found.volume().description().name().equals(spec.name())
                    && found.volume().description().level() == spec.level()) {
                any = found.volume().description().uuid();
            }
        }
        if (any == null) {
            throw new Failure("none of the members of " + spec.title() + " that can be read"
                    + " belongs to it; take it out of the config file by hand");
        }
        String why = switch (Assembly.of(candidates, Consent.FORCED)) {
            case Assembly.Outcome.Assembled(var composition) -> composition.isDegraded()
                    ? "not all of its members are there and up to date"
                    : "";
            case Assembly.Outcome.Refused(String refusal) -> refusal;
        };
        if (!why.isEmpty() && !force) {
            throw new Failure(spec.title() + " is not whole: " + why
                    + "; what is missing would go on claiming to be of it: add --force if that is"
                    + " meant");
        }
        return any;
    }
}
