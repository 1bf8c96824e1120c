package lunar.cli.raid;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import lunar.block.BusyException;
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
import lunar.raid.metadata.DegradedStart;
import lunar.raid.metadata.record.Superblock;
import lunar.raid.metadata.record.SuperblockReading;
import lunar.raid.service.MemberSearch;
import lunar.raid.service.VolumeOwner;
import lunar.raid.service.VolumeSpec;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code lunar raid destroy}: the end of a volume. */
@Command(name = "destroy",
        description = "Destroy a volume: erase its superblocks and its config file entry. Its data"
                + " cannot be recovered.",
        footer = {"", "Example:", "  lunar raid destroy raid5:vol"})
final class RaidDestroyCommand extends RaidVolumeCommand {
    @Option(names = "--force",
            description = "Destroy it even if it is running, which stops it, or if members are missing.")
    private boolean force;

    RaidDestroyCommand(Console console) { super(console); }

    @Override
    protected int execute() throws Exception {
        logWarningsOnly();
        VolumeSpec spec = spec();
        stop(spec);
        var uris = new ArrayList<>(spec.members());
        uris.addAll(spec.spares());
        UUID uuid = whole(spec, look(spec, uris));
        int count;
        try (var _ = new ControlHost().claim(uuid, spec.title(), false)) {
            count = VolumeOwner.erase(spec, uuid, Devices::open, (uri, why) -> console()
                    .remark(DeviceUri.withoutSecret(uri) + " is left unchanged: "
                            + Errors.message(why)));
        }
        Optional<VolumeTable> table = volumes().table(spec.name())
                .filter(one -> one.members().equals(spec.members()));
        if (table.isPresent()) {
            new VolumeTableFile(volumes().file()).remove(spec.name());
        }
        tellEnd(spec, Optional.of(uuid), "destroyed", "destroyed " + spec.title() + ": " + count
                + " devices released" + (table.isPresent()
                        ? ", removed from " + volumes().file()
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

    /** @throws Failure if a device is in use, as when a process that cannot be asked runs the volume */
    private static List<Candidate> look(VolumeSpec spec, List<String> uris) throws Failure {
        var inUse = new ConcurrentLinkedQueue<String>();
        List<Candidate> candidates = MemberSearch.look(uris, uri -> {
            try {
                return Devices.open(uri);
            } catch (BusyException e) {
                inUse.add(Errors.message(e));
                throw e;
            }
        });
        if (!inUse.isEmpty()) {
            throw new Failure(spec.title() + " is not destroyed: "
                    + inUse.stream().sorted().findFirst().orElseThrow()
                    + "; if a process runs the volume, stop it there first");
        }
        return candidates;
    }

    /** Returns the UUID of the volume after checking that it is complete. */
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
            throw new Failure("none of the readable members of " + spec.title()
                    + " belongs to it; remove it from the config file by hand");
        }
        String why = switch (Assembly.of(candidates, DegradedStart.FORCED)) {
            case Assembly.Outcome.Assembled(var composition) -> composition.isDegraded()
                    ? "not all of its members are present and up to date"
                    : "";
            case Assembly.Outcome.Refused(String refusal) -> refusal;
        };
        if (!why.isEmpty() && !force) {
            throw new Failure(spec.title() + " is incomplete: " + why
                    + "; missing members would keep their superblocks: add --force to"
                    + " confirm");
        }
        return any;
    }
}
