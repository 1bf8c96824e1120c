package lunar.cli.raid;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import lunar.block.DeviceUri;
import lunar.block.Devices;
import lunar.cli.command.Console;
import lunar.cli.command.DeviceCommand;
import lunar.cli.command.Failure;
import lunar.cli.config.ConfigOption;
import lunar.cli.config.VolumeTableFile;
import lunar.cli.raid.control.DeviceContent;
import lunar.cli.raid.control.LocalVolume;
import lunar.cli.raid.control.StoppedVolume;
import lunar.raid.metadata.Assembly;
import lunar.raid.metadata.Candidate;
import lunar.raid.metadata.DegradedStart;
import lunar.raid.metadata.record.Superblock;
import lunar.raid.metadata.record.SuperblockReading;
import lunar.raid.metadata.record.VolumeRecord;
import lunar.raid.service.LostJournalPolicy;
import lunar.raid.OwnershipOptions;
import lunar.raid.service.RunOptions;
import lunar.raid.service.StoredUri;
import lunar.raid.service.VolumeSpec;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** {@code lunar raid assemble}: finds the volume of devices and recovers it. */
@Command(name = "assemble",
        description = "Examine devices, in any order, and identify their volume; replay its journal"
                + " after a crash, resync it, and add it to the config file.",
        footer = {
                "", "Example:",
                "  lunar raid assemble file:b.img file:a.img "
                        + "iscsi://10.0.0.5/iqn.2026-11.org.example:c/0",
                "  lunar raid assemble file:*.img --look",
                "  lunar raid assemble file:a.img file:b.img file:c.img --journal file:new.log "
                        + "--lost-journal renew"})
final class RaidAssembleCommand extends DeviceCommand {
    @Parameters(arity = "1..*", paramLabel = "URI", description = "Devices.")
    private List<String> uris = new ArrayList<>();

    @Mixin
    private final ConfigOption config = new ConfigOption();

    @Option(names = "--journal", paramLabel = "URI",
            description = "The device with the journal, if not on the members.")
    private @Nullable String journal;

    @Option(names = "--lost-journal", paramLabel = "CHOICE", defaultValue = "no",
            description = "If the journal device is lost permanently: 'drop' to continue without"
                    + " a journal, 'renew' to create a new one on the device of --journal. After a crash"
                    + " all parity is recomputed, which needs all members. Default: no.")
    private String lostJournal = "no";

    @Option(names = "--degraded", paramLabel = "CHOICE", defaultValue = "no",
            description = "Whether the volume may start without missing members: no; yes, if the present"
                    + " members are certainly up to date; force, in any case. Default: no.")
    private String degraded = "no";

    @Option(names = "--take-over",
            description = "Take the volume over from another process that runs it, or may run it: that"
                    + " process returns errors to its hosts from then on.")
    private boolean takeOver;

    @Option(names = "--look", description = "Only identify the devices; write nothing.")
    private boolean look;

    @Option(names = "--no-config", description = "Do not change the config file.")
    private boolean noConfig;

    @Option(names = "--json", description = "Write JSON.")
    private boolean json;

    RaidAssembleCommand(Console console) { super(console); }

    @Override
    protected int execute() throws Exception {
        logWarningsOnly();
        var kept = new ArrayList<String>();
        for (String uri : uris) {
            kept.add(StoredUri.of(uri));
        }
        List<Candidate> candidates = MemberUri.look(kept);
        if (!json) {
            candidates.forEach(one -> console().out()
                    .println(DeviceUri.withoutSecret(one.uri()) + ": "
                            + DeviceContent.describe(one)));
        }
        VolumeRecord volume = switch (Assembly.of(candidates, DegradedStart.parse(degraded))) {
            case Assembly.Outcome.Assembled(var composition) -> composition.volume();
            case Assembly.Outcome.Refused(String why) -> throw new Failure(why);
        };
        VolumeSpec spec = spec(candidates, volume);
        if (look) {
            tell(json, StoppedVolume.status(spec, candidates), spec.title() + " can be assembled");
            return 0;
        }
        try (var running = LocalVolume.open(spec)) {
            JsonNode status = new ScanWait(console(), running).forRedundancy();
            if (!noConfig && config.volumes().table(spec.name()).isEmpty()) {
                new VolumeTableFile(config.volumes().file()).append(spec,
                        volume.description().uuid());
                if (!json) {
                    console().out().println("added " + spec.title() + " to "
                            + config.volumes().file().toAbsolutePath().normalize());
                }
            }
            tell(json, status, spec.title() + " is " + status.path("state").asString(""));
        }
        return 0;
    }

    /** Members in the order of their slots; devices that are no members are left out. */
    private VolumeSpec spec(List<Candidate> candidates, VolumeRecord volume) throws Failure {
        record Placed(int index, String uri) {}
        var placed = new ArrayList<Placed>();
        for (Candidate candidate : candidates) {
            if (candidate.reading() instanceof SuperblockReading.Found(Superblock found)) {
                volume.indexOf(found.memberUuid())
                        .ifPresent(index -> placed.add(new Placed(index, candidate.uri())));
            }
        }
        placed.sort(Comparator.comparingInt(Placed::index));
        int slots = volume.description().slots();
        return new VolumeSpec(volume.description().level(), volume.description().name(),
                placed.stream().filter(one -> one.index() < slots).map(Placed::uri).toList(),
                placed.stream().filter(one -> one.index() >= slots).map(Placed::uri).toList(),
                journal == null ? Optional.empty() : Optional.of(StoredUri.of(journal)),
                (noConfig ? RunOptions.DEFAULT : config.volumes().with(RunOptions.DEFAULT))
                        .withDegradedStart(DegradedStart.parse(degraded))
                        .withOwnership(OwnershipOptions.DEFAULT.withTakeOver(takeOver))
                        .withLostJournal(LostJournalPolicy.parse(lostJournal)));
    }
}
