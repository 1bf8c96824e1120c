package lunar.raid.run;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import lunar.block.BlockDevice;
import lunar.block.DeviceUri;
import lunar.block.InvalidRequestException;
import lunar.block.StorageException;
import lunar.raid.meta.Assembly;
import lunar.raid.meta.Candidate;
import lunar.raid.meta.Composition;
import lunar.raid.meta.Composition.Use;
import lunar.raid.meta.OpenOptions;
import lunar.raid.meta.VolumeDescription;
import lunar.raid.meta.VolumeDevices;
import lunar.raid.meta.VolumeMetadata;
import org.jspecify.annotations.Nullable;

/**
 * Puts a volume together from the devices of a spec: opens them, decides, replays what a crash has left. A member that
 * fails at that is left out, and all is decided anew. For one thread.
 */
final class VolumeOpening {
    private static final System.Logger LOG = System.getLogger("lunar.raid");

    private final VolumeSpec spec;
    private final MemberOpener opener;
    private final List<VolumeHost> hosts;
    private final Executor workers;
    private final List<VolumeHost.Claim> claims = new ArrayList<>();
    private final MemberFaults faults = new MemberFaults();
    private List<Candidates.Found> found = List.of();
    private @Nullable BlockDevice journal;

    /**
     * What came out.
     *
     * @param uris by slot, the device in it, or that should be
     * @param others members of the spec that are in no slot
     * @param claims to be closed at the end, after the members
     */
    record Opened(Composition composition, VolumeMetadata metadata, List<String> uris,
            List<String> others, List<String> spares, @Nullable BlockDevice journal,
            List<VolumeHost.Claim> claims, MemberFaults faults) {}

    VolumeOpening(VolumeSpec spec, MemberOpener opener, List<VolumeHost> hosts,
            Executor workers) {
        this.spec = spec;
        this.opener = opener;
        this.hosts = List.copyOf(hosts);
        this.workers = workers;
    }

    /** Blocks; when it fails nothing is left open. */
    Opened open() throws StorageException {
        boolean done = false;
        try {
            var uris = new ArrayList<>(spec.members());
            uris.addAll(spec.spares());
            found = Candidates.open(uris, opener, spec.options().timing(), workers);
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
        found.forEach(Candidates.Found::close);
        Candidates.closeQuietly(journal);
        claims.forEach(VolumeHost.Claim::close);
    }

    private Opened assemble() throws StorageException {
        while (true) {
            Composition composition = decide();
            if (claims.isEmpty()) {
                for (VolumeHost host : hosts) {
                    claims.add(host.claim(composition.volume().description().uuid(),
                            spec.title()));
                }
                openJournal(composition.volume().description());
            }
            var devices = new ArrayList<@Nullable BlockDevice>();
            for (Composition.Slot slot : composition.slots()) {
                devices.add(isUsed(slot) ? found.get(slot.candidate()).device : null);
            }
            try {
                var metadata = VolumeMetadata.open(composition,
                        new VolumeDevices(devices, List.of(), journal),
                        OpenOptions.DEFAULT.withPolicy(spec.options().policy()), faults);
                return opened(composition, metadata);
            } catch (StorageException e) {
                Map<Integer, StorageException> failed = faults.take();
                if (failed.isEmpty()) {
                    throw e;
                }
                failed.forEach((slot, why) -> leaveOut(composition.slots().get(slot), why));
                found.forEach(Candidates.Found::lookAgain);
            }
        }
    }

    private void leaveOut(Composition.Slot slot, StorageException why) {
        if (slot.candidate() != Composition.NONE) {
            found.get(slot.candidate()).leaveOut(String.valueOf(why.getMessage()));
        }
    }

    private static boolean isUsed(Composition.Slot slot) {
        return slot.use() == Use.IN_SYNC || slot.use() == Use.REBUILDING;
    }

    private Composition decide() throws StorageException {
        List<Candidate> candidates = found.stream().map(one -> one.candidate).toList();
        return switch (Assembly.of(candidates, spec.options().consent())) {
            case Assembly.Outcome.Assembled(Composition composition) -> {
                requireMeant(composition.volume().description());
                yield composition;
            }
            case Assembly.Outcome.Refused(String why) ->
                throw new InvalidRequestException(spec.title() + ": " + why + advice(why));
        };
    }

    /** How a person consents, where the library can only ask for it. */
    private String advice(String why) {
        if (why.contains("would start degraded")) {
            return "; " + spec.title() + "?degraded=yes lets it";
        }
        return why.contains("or force it") ? "; " + spec.title() + "?degraded=force does" : "";
    }

    /** The URI says what it expects; something else on the members is a mistake. */
    private void requireMeant(VolumeDescription what) throws StorageException {
        if (what.level() != spec.level() || !what.name().equals(spec.name())) {
            throw new InvalidRequestException("the members of " + spec.title()
                    + " hold " + VolumeSpec.scheme(what.level()) + ":" + what.name() + " ("
                    + what.level() + ", " + what.slots() + " members): write that, or name the"
                    + " members of " + spec.title());
        }
    }

    private void openJournal(VolumeDescription what) throws StorageException {
        if (what.journalDevice() == null) {
            return;
        }
        String uri = spec.journal().orElseThrow(() -> new InvalidRequestException(spec.title()
                + " has its journal on a device of its own: name it, with journal=URI"));
        journal = opener.open(uri);
    }

    private Opened opened(Composition composition, VolumeMetadata metadata) {
        composition.leftOut().forEach(one -> LOG.log(System.Logger.Level.DEBUG,
                "{0}: {1} is not used: {2}", spec.title(),
                DeviceUri.withoutSecret(found.get(one.candidate()).uri), one.why()));
        var spares = new ArrayList<>(spec.spares());
        composition.spares().stream().filter(index -> index != Composition.NONE)
                .forEach(index -> add(spares, found.get(index).uri));
        var others = new ArrayList<>(spec.members());
        others.removeAll(spares);
        var known = new ArrayList<Optional<String>>();
        for (Composition.Slot slot : composition.slots()) {
            if (slot.candidate() == Composition.NONE) {
                known.add(Optional.empty());
            } else {
                String uri = found.get(slot.candidate()).uri;
                others.remove(uri);
                spares.remove(uri);
                known.add(Optional.of(uri));
            }
        }
        var uris = new ArrayList<String>();
        for (int slot = 0; slot < known.size(); slot++) {
            uris.add(known.get(slot).orElse(likely(slot, others)));
        }
        closeUnused(composition);
        return new Opened(composition, metadata, uris, others, spares, journal,
                List.copyOf(claims), faults);
    }

    /** Where the member of a slot should be: at its place in the list, else wherever nobody else is. */
    private String likely(int slot, List<String> others) {
        if (slot < spec.members().size() && others.contains(spec.members().get(slot))) {
            return spec.members().get(slot);
        }
        return others.isEmpty() ? "" : others.getFirst();
    }

    private static void add(List<String> list, String uri) {
        if (!list.contains(uri)) {
            list.add(uri);
        }
    }

    /** Those that came back are opened again when it is their turn. */
    private void closeUnused(Composition composition) {
        var used = new ArrayList<Candidates.Found>();
        for (Composition.Slot slot : composition.slots()) {
            if (isUsed(slot)) {
                used.add(found.get(slot.candidate()));
            }
        }
        found.stream().filter(one -> !used.contains(one)).forEach(Candidates.Found::close);
    }
}
