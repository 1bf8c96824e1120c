package lunar.raid.service;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.concurrent.Executor;
import lunar.block.BlockDevice;
import lunar.block.DeviceUri;
import lunar.block.InvalidRequestException;
import lunar.block.Size;
import lunar.block.StorageException;
import lunar.raid.metadata.Assembly;
import lunar.raid.metadata.Candidate;
import lunar.raid.metadata.Composition;
import lunar.raid.metadata.Composition.Use;
import lunar.raid.metadata.Creation;
import lunar.raid.metadata.JournalReset;
import lunar.raid.metadata.OpenOptions;
import lunar.raid.metadata.VolumeDevices;
import lunar.raid.metadata.VolumeMetadata;
import lunar.raid.metadata.journal.JournalDevice;
import lunar.raid.metadata.record.MemberRecord;
import lunar.raid.metadata.record.VolumeDescription;
import lunar.raid.metadata.record.VolumeRecord;
import lunar.raid.service.ownership.Ownership;
import org.jspecify.annotations.Nullable;

/**
 * Puts a volume together from the devices of a spec: opens them, decides on their use, replays what a crash has left. A
 * member that fails meanwhile is left out, and the decision is made anew. For one thread.
 */
final class VolumeOpening {
    private static final System.Logger LOG = System.getLogger("lunar.raid");

    private final VolumeSpec spec;
    private final MemberOpener opener;
    private final List<VolumeHost> hosts;
    private final Executor workers;
    private final List<VolumeHost.Claim> claims = new ArrayList<>();
    private final Ownership ownership;
    private boolean isJournalOpen;
    private final MemberFaults faults = new MemberFaults();
    private List<CandidateSearch.Found> found = List.of();
    private @Nullable BlockDevice journal;
    /** The reset of a lost journal that the operator has chosen; null without one. */
    private @Nullable JournalReset reset;

    /**
     * The result.
     *
     * @param uris by slot, the device that is in it or should be
     * @param others members of the spec that are in no slot
     * @param claims to be closed at the end, after the members
     * @param ownership of the members; to be ended before the claims
     */
    record Opened(Composition composition, VolumeMetadata metadata, List<String> uris,
            List<String> others, List<SparePool.Known> spares, @Nullable BlockDevice journal,
            List<VolumeHost.Claim> claims, Ownership ownership, MemberFaults faults) {}

    VolumeOpening(VolumeSpec spec, MemberOpener opener, List<VolumeHost> hosts,
            Executor workers) {
        this.spec = spec;
        this.opener = opener;
        this.hosts = List.copyOf(hosts);
        this.workers = workers;
        ownership = new Ownership(spec.title(), spec.options().ownership(), workers);
    }

    /** Blocks; when it fails nothing is left open. */
    Opened open() throws StorageException {
        boolean done = false;
        try {
            var uris = new ArrayList<>(spec.members());
            uris.addAll(spec.spares());
            found = CandidateSearch.open(uris, opener, spec.options().timing(), workers);
            Opened opened = assemble();
            done = true;
            return opened;
        } finally {
            if (!done) {
                cancel();
            }
        }
    }

    private void cancel() {
        ownership.release();
        ownership.end();
        found.forEach(CandidateSearch.Found::close);
        CandidateSearch.closeQuietly(journal);
        claims.forEach(VolumeHost.Claim::close);
    }

    private Opened assemble() throws StorageException {
        while (true) {
            Composition composition = decide();
            if (claims.isEmpty()) {
                for (VolumeHost host : hosts) {
                    claims.add(host.claim(composition.volume().description().uuid(),
                            spec.title(), spec.options().ownership().takesOver()));
                }
            }
            var devices = new ArrayList<@Nullable BlockDevice>();
            for (Composition.Slot slot : composition.slots()) {
                devices.add(isUsed(slot) ? found.get(slot.candidate().getAsInt()).device : null);
            }
            if (own(composition, devices)) {
                continue; // the previous owner may have changed something until then
            }
            if (!isJournalOpen) {
                isJournalOpen = true;
                openJournal(composition.volume());
                if (journal != null) {
                    ownership.reserve(journal);
                    journal = ownership.leased(journal);
                }
            }
            var spares = new ArrayList<@Nullable BlockDevice>();
            for (OptionalInt index : composition.spares()) {
                spares.add(index.isEmpty() ? null : found.get(index.getAsInt()).device);
            }
            OpenOptions options = OpenOptions.DEFAULT.withPolicy(spec.options().policy())
                    .withVerifies(spec.options().verifyReads());
            try {
                var metadata = VolumeMetadata.open(composition,
                        new VolumeDevices(devices, spares, journal),
                        reset == null ? options : options.withJournalReset(reset), faults);
                return opened(composition, metadata);
            } catch (StorageException e) {
                Map<Integer, StorageException> failed = faults.take();
                if (failed.isEmpty()) {
                    throw e;
                }
                failed.forEach((slot, why) -> leaveOut(composition.slots().get(slot), why));
                found.forEach(CandidateSearch.Found::lookAgain);
            }
        }
    }

    /** Acquires the members; returns true if that changed anything: then all is to be decided anew. */
    private boolean own(Composition composition, List<@Nullable BlockDevice> devices)
            throws StorageException {
        if (ownership.ownsAll(devices)) {
            return false;
        }
        String contact = claims.stream().map(VolumeHost.Claim::contact)
                .filter(one -> !one.isEmpty()).findFirst().orElse("");
        ownership.acquire(composition.volume().description().uuid(), devices, contact)
                .forEach((slot, why) -> leaveOut(composition.slots().get(slot), why));
        for (CandidateSearch.Found one : found) {
            BlockDevice device = one.device;
            one.device = device == null ? null : ownership.leased(device);
            one.lookAgain();
        }
        return true;
    }

    private void leaveOut(Composition.Slot slot, StorageException why) {
        if (slot.candidate().isPresent()) {
            CandidateSearch.Found there = found.get(slot.candidate().getAsInt());
            ownership.forget(there.device);
            there.leaveOut(String.valueOf(why.getMessage()));
        }
    }

    private static boolean isUsed(Composition.Slot slot) {
        return slot.use() == Use.IN_SYNC || slot.use() == Use.REBUILDING;
    }

    private Composition decide() throws StorageException {
        List<Candidate> candidates = found.stream().map(one -> one.candidate).toList();
        return switch (Assembly.of(candidates, spec.options().degradedStart())) {
            case Assembly.Outcome.Assembled(Composition composition) -> {
                requireMeant(composition.volume().description());
                yield composition;
            }
            case Assembly.Outcome.Refused(String why) ->
                throw new InvalidRequestException(spec.title() + ": " + why + advice(why));
        };
    }

    /** Returns how the operator can consent, if the refusal asks for consent. */
    private String advice(String why) {
        if (why.contains("would start degraded")) {
            return "; " + spec.title() + "?degraded=yes lets it";
        }
        return why.contains("or force it") ? "; " + spec.title() + "?degraded=force does" : "";
    }

    /** Requires that the members hold the volume that the URI names. */
    private void requireMeant(VolumeDescription what) throws StorageException {
        if (what.level() != spec.level() || !what.name().equals(spec.name())) {
            throw new InvalidRequestException("the members of " + spec.title()
                    + " hold " + VolumeSpec.scheme(what.level()) + ":" + what.name() + " ("
                    + what.level() + ", " + what.slots() + " members): write that, or name the"
                    + " members of " + spec.title());
        }
    }

    private void openJournal(VolumeRecord volume) throws StorageException {
        if (volume.description().journalDevice() == null) {
            return;
        }
        String obstacle = journalObstacle(volume);
        if (obstacle.isEmpty()) {
            return;
        }
        switch (spec.options().lostJournal()) {
            case REFUSE -> throw new InvalidRequestException(spec.title()
                    + " has its journal on a device of its own: " + obstacle
                    + "; name it with journal=URI, or, where it is lost for good, add"
                    + " lost-journal=drop to go on without one, or lost-journal=renew to have a"
                    + " new one on the device that journal=URI names");
            case DROP -> {
                CandidateSearch.closeQuietly(journal);
                journal = null;
                reset = JournalReset.withoutJournal();
            }
            case RENEW -> {
                requireRoomForJournal(volume, obstacle);
                reset = JournalReset.to(UUID.randomUUID(), UUID.randomUUID());
            }
        }
    }

    /** Opens the journal; returns why that failed, or empty if it is open. */
    private String journalObstacle(VolumeRecord volume) throws StorageException {
        if (spec.journal().isEmpty()) {
            return "its URI is not known";
        }
        String uri = spec.journal().get();
        try {
            journal = opener.open(uri);
            return JournalDevice.look(volume, journal) == JournalDevice.ITS_JOURNAL
                    ? ""
                    : DeviceUri.withoutSecret(uri) + " has not got it";
        } catch (StorageException | IllegalArgumentException e) {
            return String.valueOf(e.getMessage());
        }
    }

    private void requireRoomForJournal(VolumeRecord volume, String obstacle)
            throws StorageException {
        BlockDevice device = journal;
        if (device == null) {
            throw new InvalidRequestException(spec.title()
                    + " cannot have a new journal: " + obstacle
                    + "; name a device for it with journal=URI");
        }
        String uri = DeviceUri.withoutSecret(spec.journal().orElse(""));
        VolumeDescription what = volume.description();
        if (device.blockSize() != what.blockSize()
                || device.sizeBytes() < what.layout().journalLengthBytes()) {
            throw new InvalidRequestException(uri + " has " + Size.format(device.sizeBytes())
                    + " in blocks of " + device.blockSize() + " bytes; the journal needs "
                    + Size.format(what.layout().journalLengthBytes()) + " in blocks of "
                    + what.blockSize() + ": name another device");
        }
        Optional<String> occupant = Creation.occupant(device);
        if (occupant.isPresent()
                && JournalDevice.look(volume, device) != JournalDevice.ANOTHER_JOURNAL) {
            throw new InvalidRequestException(uri + " has " + occupant.get()
                    + ", which would be destroyed: name another device for the new journal");
        }
    }

    private Opened opened(Composition composition, VolumeMetadata metadata) {
        composition.leftOut().forEach(one -> LOG.log(System.Logger.Level.DEBUG,
                "{0}: {1} is not used: {2}", spec.title(),
                DeviceUri.withoutSecret(found.get(one.candidate()).uri), one.why()));
        var others = new ArrayList<>(spec.members());
        others.removeAll(spec.spares());
        var known = new ArrayList<Optional<String>>();
        for (Composition.Slot slot : composition.slots()) {
            if (slot.candidate().isEmpty()) {
                known.add(Optional.empty());
            } else {
                String uri = found.get(slot.candidate().getAsInt()).uri;
                others.remove(uri);
                known.add(Optional.of(uri));
            }
        }
        var uris = new ArrayList<String>();
        for (int slot = 0; slot < known.size(); slot++) {
            uris.add(known.get(slot).orElse(likely(slot, others)));
        }
        List<SparePool.Known> spares = spares(composition, known);
        spares.forEach(one -> others.remove(one.uri()));
        closeUnused(composition);
        return new Opened(composition, metadata, uris, others, spares, journal,
                List.copyOf(claims), ownership, faults);
    }

    /** Returns where a missing member should be: at its index in the list, else the first URI that is not taken. */
    private String likely(int slot, List<String> others) {
        if (slot < spec.members().size() && others.contains(spec.members().get(slot))) {
            return spec.members().get(slot);
        }
        return others.isEmpty() ? "" : others.getFirst();
    }

    /** Returns the spares of the table, then those that are to be added to it. */
    private List<SparePool.Known> spares(Composition composition, List<Optional<String>> inSlots) {
        var spares = new ArrayList<SparePool.Known>();
        var named = new ArrayList<>(spec.spares());
        inSlots.forEach(uri -> uri.ifPresent(named::remove));
        List<MemberRecord> table = composition.volume().spares();
        var away = new ArrayList<UUID>();
        for (int i = 0; i < table.size(); i++) {
            OptionalInt index = composition.spares().get(i);
            if (index.isEmpty()) {
                away.add(table.get(i).uuid());
            } else {
                CandidateSearch.Found there = found.get(index.getAsInt());
                spares.add(new SparePool.Known(there.uri, Optional.of(table.get(i).uuid()),
                        there.device, ""));
                named.remove(there.uri);
            }
        }
        for (String uri : named) {
            spares.add(new SparePool.Known(uri, Optional.empty(), null, ""));
        }
        // Each name left may be one of the spares that are away: only the excess is listed without a URI.
        away.subList(0, Math.min(away.size(), named.size())).clear();
        away.forEach(uuid -> spares
                .add(new SparePool.Known("", Optional.of(uuid), null, "it is away")));
        return spares;
    }

    /** Closes devices that are not used; members that came back are opened again when they are readmitted. */
    private void closeUnused(Composition composition) {
        var used = new ArrayList<CandidateSearch.Found>();
        for (Composition.Slot slot : composition.slots()) {
            if (isUsed(slot)) {
                used.add(found.get(slot.candidate().getAsInt()));
            }
        }
        composition.spares()
                .forEach(spare -> spare.ifPresent(index -> used.add(found.get(index))));
        found.stream().filter(one -> !used.contains(one)).forEach(one -> {
            ownership.forget(one.device);
            one.close();
        });
    }
}
