package lunar.cli.raid;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.block.DeviceUri;
import lunar.block.Devices;
import lunar.block.Size;
import lunar.block.StorageException;
import lunar.cli.command.Console;
import lunar.cli.command.Failure;
import lunar.cli.command.SizeConverter;
import lunar.cli.config.NewFiles;
import lunar.cli.config.OpenDevices;
import lunar.cli.config.VolumeTable;
import lunar.cli.config.VolumeTableFile;
import lunar.cli.raid.control.LocalVolume;
import lunar.cli.raid.control.StoppedVolume;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Creation;
import lunar.raid.metadata.record.VolumeRecord;
import lunar.raid.service.MemberSearch;
import lunar.raid.service.RunOptions;
import lunar.raid.service.StoredUri;
import lunar.raid.service.VolumeOwner;
import lunar.raid.service.VolumeSpec;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** {@code lunar raid create}: a new volume. */
@Command(name = "create",
        description = "Create a volume of devices, and add it to the config file. Devices that contain"
                + " data are rejected.",
        footer = {
                "",
                "The present data of the members becomes the volume's content, so its parity or copies are"
                        + " synchronized first. An interrupted resync continues at the next start.",
                "", "Examples:",
                "  lunar raid create raid5:vol iscsi://10.0.0.5/iqn.2026-11.org.example:a/0 "
                        + "iscsi://10.0.0.6/iqn.2026-11.org.example:b/0 file:/srv/c.img",
                "  lunar raid create raid1:small 'file:a.img?size=1G' 'file:b.img?size=1G' "
                        + "--assume-clean"})
final class RaidCreateCommand extends RaidVolumeCommand {
    @Parameters(index = "1..*", arity = "1..*", paramLabel = "URI", description = "Its members.")
    private List<String> members = new ArrayList<>();

    @Option(names = "--chunk", paramLabel = "SIZE", converter = SizeConverter.class,
            defaultValue = "0",
            description = "Chunk size: consecutive data on one member. Default: 64k.")
    private long chunkBytes;

    @Option(names = "--spare", paramLabel = "URI",
            description = "A device that replaces a failed member; may be repeated.")
    private List<String> spares = new ArrayList<>();

    @Option(names = "--journal", paramLabel = "URI",
            description = "A separate device for the journal of RAID 5 and 6. Default: on the"
                    + " members.")
    private @Nullable String journal;

    @Option(names = "--checksums",
            description = "Keep a checksum of each block on the members, so that a scrub can locate wrong"
                    + " data. Takes 0.1%% of the space with blocks of 4 KiB, 0.8%% with 512 bytes.")
    private boolean checksums;

    @Option(names = "--force", description = "Destroy the data on the devices.")
    private boolean force;

    @Option(names = "--assume-clean",
            description = "Skip the initial resync: valid if the data areas of all members contain zeroes,"
                    + " like new files.")
    private boolean assumeClean;

    @Option(names = "--no-wait",
            description = "Leave the initial resync to the first start.")
    private boolean noWait;

    @Option(names = "--no-config",
            description = "Print the config file entry instead of adding it.")
    private boolean noConfig;

    RaidCreateCommand(Console console) { super(console); }

    @Override
    protected int execute() throws Exception {
        logWarningsOnly();
        DeviceUri uri = DeviceUri.parse(uri());
        if (!VolumeTable.isShort(uri) || !uri.options().isEmpty()) {
            throw wrongUsage("'" + DeviceUri.withoutSecret(uri())
                    + "' is not a volume name; write for example raid5:vol, followed by its"
                    + " members");
        }
        Level level = Level.parse(uri.scheme());
        if (!noConfig && volumes().table(uri.rest()).isPresent()) {
            throw new Failure("the config file " + volumes().file() + " has a volume '"
                    + uri.rest() + "' already; choose another name, or destroy that volume");
        }
        requireDifferent();
        var spec = new VolumeSpec(level, uri.rest(), kept(members), kept(spares),
                journal == null ? Optional.empty() : Optional.of(StoredUri.of(journal)),
                noConfig ? RunOptions.DEFAULT : volumes().with(RunOptions.DEFAULT));
        VolumeRecord record = create(level, spec);
        UUID uuid = record.description().uuid();
        if (!noConfig) {
            new VolumeTableFile(volumes().file()).append(spec, uuid);
        }
        if (!isJson()) {
            console().out().println("created " + title(spec, record));
            console().out().println(noConfig
                    ? "put this into a config file:\n\n" + VolumeTable.text(spec, uuid)
                    : "added to " + volumes().file().toAbsolutePath().normalize());
        }
        finish(spec, level);
        return 0;
    }

    private void requireDifferent() throws Failure {
        var all = new ArrayList<String>(kept(members));
        all.addAll(kept(spares));
        if (journal != null) {
            all.add(StoredUri.of(journal));
        }
        for (int i = 0; i < all.size(); i++) {
            if (all.indexOf(all.get(i)) != i) {
                throw new Failure(DeviceUri.withoutSecret(all.get(i))
                        + " is listed twice; list each device once");
            }
        }
    }

    private static List<String> kept(List<String> uris) {
        var kept = new ArrayList<String>();
        for (String uri : uris) {
            kept.add(StoredUri.of(uri));
        }
        return kept;
    }

    private static String title(VolumeSpec spec, VolumeRecord record) {
        return spec.title() + ": " + spec.level() + " of " + spec.members().size() + " members, "
                + Size.format(record.description().volumeBlocks()
                        * record.description().blockSize())
                + ", chunk " + Size.format(record.shape().chunkBytes());
    }

    private VolumeRecord create(Level level, VolumeSpec spec) throws Exception {
        if (journal != null && !level.hasParity()) {
            throw new Failure(level + " has no journal; omit --journal");
        }
        var listed = new ArrayList<>(members);
        listed.addAll(spares);
        if (journal != null) {
            listed.add(journal);
        }
        NewFiles created = NewFiles.of(listed);
        boolean completed = false;
        try {
            VolumeRecord record = write(level, spec);
            completed = true;
            return record;
        } finally {
            if (!completed) {
                created.remove();
            }
        }
    }

    private VolumeRecord write(Level level, VolumeSpec spec) throws Exception {
        try (var devices = new OpenDevices()) {
            var all = new ArrayList<Creation.Member>();
            for (int i = 0; i < members.size(); i++) {
                all.add(new Creation.Member(DeviceUri.withoutSecret(members.get(i)),
                        UUID.randomUUID(), devices.open(members.get(i))));
            }
            BlockDevice log = journal == null ? null : devices.open(journal);
            var waiting = new ArrayList<Creation.Member>();
            for (String spare : spares) {
                waiting.add(new Creation.Member(DeviceUri.withoutSecret(spare),
                        UUID.randomUUID(), devices.open(spare)));
            }
            var wish = new Creation.Wish(UUID.randomUUID(), spec.name(),
                    System.currentTimeMillis(), level, Creation.consistencyOf(level),
                    Math.toIntExact(Math.min(chunkBytes, Integer.MAX_VALUE)), 0,
                    UUID.randomUUID(), log == null ? null : UUID.randomUUID(), checksums);
            if (log != null) {
                requireFree(spec.journal().orElse(""), log);
            }
            for (Creation.Member member : all) {
                VolumeOwner.requireNone(member.uri(), member.device());
            }
            for (Creation.Member member : waiting) {
                VolumeOwner.requireNone(member.uri(), member.device());
            }
            VolumeRecord record = Creation.create(wish, all, waiting, force);
            if (log != null) {
                Creation.createJournal(record, spec.journal().orElse(""), log, true);
            }
            if (assumeClean) {
                all.addAll(waiting);
                for (Creation.Member member : all) {
                    Creation.assumeClean(member.device());
                }
            }
            return record;
        }
    }

    private void requireFree(String uri, BlockDevice device) throws StorageException, Failure {
        Optional<String> occupant = force ? Optional.empty() : Creation.occupant(device);
        if (occupant.isPresent()) {
            throw new Failure(DeviceUri.withoutSecret(uri) + " contains " + occupant.get()
                    + ", which would be destroyed: choose another device, or add --force");
        }
    }

    private void finish(VolumeSpec spec, Level level) throws IOException, InterruptedException {
        boolean due = level.isRedundant() && !assumeClean;
        if (!due || noWait) {
            var uris = new ArrayList<>(spec.members());
            uris.addAll(spec.spares());
            JsonNode status = StoppedVolume.status(spec, MemberSearch.look(uris, Devices::open));
            tell(status, due
                    ? "the initial resync runs at the first start: 'lunar serve "
                            + spec.title() + "', or 'lunar raid rebuild " + spec.title() + "'"
                    : spec.title() + " is ready: 'lunar serve " + spec.title() + "'");
            return;
        }
        if (!isJson()) {
            console().out().println("initial resync in progress; the volume can be used meanwhile"
                    + " if another process continues it (Ctrl-C)");
            console().out().flush();
        }
        try (var volume = LocalVolume.open(spec)) {
            JsonNode status = new ScanWait(console(), volume).forRedundancy();
            tell(status, spec.title() + " is " + status.path("state").asString("")
                    + ": 'lunar serve " + spec.title() + "'");
        }
    }
}
