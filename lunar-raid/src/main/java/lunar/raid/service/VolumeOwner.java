package lunar.raid.service;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Predicate;
import lunar.block.BlockDevice;
import lunar.block.BusyException;
import lunar.block.StorageException;
import lunar.raid.OwnershipOptions;
import lunar.raid.metadata.Creation;
import lunar.raid.metadata.record.OwnerRecord;
import lunar.raid.metadata.record.Superblock;
import lunar.raid.metadata.record.SuperblockReading;
import lunar.raid.metadata.superblock.OwnerRecordStore;
import lunar.raid.metadata.superblock.SuperblockStore;
import lunar.raid.service.ownership.OwnedMember;
import lunar.raid.service.ownership.OwnerWatch;
import lunar.raid.service.ownership.Ownership;
import lunar.raid.service.ownership.ThisProcess;
import org.jspecify.annotations.Nullable;

/**
 * The process that runs a volume, according to its members; for processes that do not run it themselves.
 *
 * @param record the owner's record on the members
 * @param isHere whether it is on this host
 */
public record VolumeOwner(OwnerRecord record, boolean isHere) {
    /** Returns the owner for the operator: "process 4711 of this host", "host alpha pid 4711". */
    public String title() {
        return OwnerWatch.title(record);
    }

    /**
     * Returns the process that runs a volume now; empty if none does, as far as its members can be read. Blocks: the
     * record of an owner that may be alive is watched for some seconds.
     *
     * @param opener of members that are only read
     */
    public static Optional<VolumeOwner> look(VolumeSpec spec, MemberOpener opener) {
        var uris = new ArrayList<>(spec.members());
        uris.addAll(spec.spares());
        try (var devices = new OpenMembers(uris, opener)) {
            UUID volume = devices.volume(spec);
            return volume == null ? Optional.empty() : devices.owner(volume);
        }
    }

    /**
     * Requires that no process runs the volume that a device belongs to. Blocks, as {@link #look} does.
     *
     * @throws BusyException if one does; the message is one line
     */
    public static void requireNone(String uri, BlockDevice device) throws StorageException {
        requireNone(uri, device, _ -> true);
    }

    /**
     * Like {@link #requireNone}, but the device may have been a member of a volume that this process runs.
     *
     * @param own the UUID of that volume
     */
    static void requireNoOther(UUID own, String uri, BlockDevice device) throws StorageException {
        requireNone(uri, device,
                owner -> !owner.volume().equals(own) || !ThisProcess.runs(owner.token()));
    }

    private static void requireNone(String uri, BlockDevice device, Predicate<OwnerRecord> counts)
            throws StorageException {
        if (device.sizeBytes() < OwnerRecordStore.AT_BYTES + device.blockSize()) {
            return;
        }
        var member = new OwnedMember(0, device, false);
        Optional<OwnerRecord> owner = member.read().filter(it -> !it.released()).filter(counts);
        if (owner.isPresent() && isAlive(owner.get(), List.of(member))) {
            throw new BusyException(uri + " is a member of a volume that is in use by "
                    + OwnerWatch.title(owner.get()) + ": stop it there first");
        }
    }

    /**
     * Erases the members of a volume: none is a member of anything afterwards. Blocks.
     *
     * @param told of the members that keep their content, and why
     * @return how many were erased
     * @throws BusyException if a process runs the volume; the message is one line
     */
    public static int erase(VolumeSpec spec, UUID volume, MemberOpener opener, EraseFailures told)
            throws StorageException {
        var uris = new ArrayList<>(spec.members());
        uris.addAll(spec.spares());
        try (var devices = new OpenMembers(uris, opener);
                ExecutorService workers = Executors.newVirtualThreadPerTaskExecutor()) {
            devices.failures.forEach(told::failed);
            var ownership = new Ownership(spec.title(), spec.options().ownership(), workers);
            try {
                List<String> all = devices.of(volume);
                var slots = new ArrayList<@Nullable BlockDevice>(
                        all.stream().map(devices::device).toList());
                ownership.acquire(volume, slots, "")
                        .forEach((slot, why) -> told.failed(all.get(slot), why));
                int count = 0;
                for (String uri : all) {
                    try {
                        Creation.destroy(ownership.leased(devices.device(uri)));
                        count++;
                    } catch (StorageException e) {
                        told.failed(uri, e);
                    }
                }
                ownership.release();
                return count;
            } finally {
                ownership.end();
            }
        }
    }

    /** Called for a member that is not erased. */
    @FunctionalInterface
    public interface EraseFailures {
        void failed(String uri, Exception why);
    }

    private static boolean isAlive(OwnerRecord owner, List<OwnedMember> members)
            throws StorageException {
        return switch (ThisProcess.life(owner)) {
            case ALIVE -> true;
            case DEAD -> false;
            case UNKNOWN -> OwnerWatch.changes(members,
                    Duration.ofMillis(Math.min(owner.leaseMs(), OwnerRecord.MAX_LEASE_MS)),
                    OwnershipOptions.DEFAULT.beat().dividedBy(4));
        };
    }

    /** Devices that may be members, open for examination. */
    private static final class OpenMembers implements AutoCloseable {
        final Map<String, BlockDevice> open = new HashMap<>();
        final Map<String, Exception> failures = new HashMap<>();
        private final Map<String, Superblock> superblocks = new HashMap<>();

        OpenMembers(List<String> uris, MemberOpener opener) {
            for (String uri : uris) {
                try {
                    BlockDevice device = opener.open(uri);
                    open.put(uri, device);
                    if (new SuperblockStore(device)
                            .read() instanceof SuperblockReading.Found(Superblock found)) {
                        superblocks.put(uri, found);
                    }
                } catch (StorageException | IllegalArgumentException e) {
                    failures.put(uri, e);
                }
            }
        }

        @Nullable
        UUID volume(VolumeSpec spec) {
            return superblocks.values().stream().map(one -> one.volume().description())
                    .filter(what -> what.name().equals(spec.name())
                            && what.level() == spec.level())
                    .map(what -> what.uuid()).findFirst().orElse(null);
        }

        BlockDevice device(String uri) { return Objects.requireNonNull(open.get(uri)); }

        List<String> of(UUID volume) {
            return superblocks.entrySet().stream().filter(
                    one -> one.getValue().volume().description().uuid().equals(volume))
                    .map(Map.Entry::getKey).sorted().toList();
        }

        Optional<VolumeOwner> owner(UUID volume) {
            var members = new ArrayList<OwnedMember>();
            var records = new ArrayList<Optional<OwnerRecord>>();
            for (String uri : of(volume)) {
                var member = new OwnedMember(members.size(), device(uri), false);
                try {
                    records.add(member.read());
                    members.add(member);
                } catch (StorageException _) {
                    // The owner of an unreadable member is unknown.
                }
            }
            OwnerRecord newest = OwnerRecordStore.newest(records, volume);
            try {
                return newest == null || newest.released() || !isAlive(newest, members)
                        ? Optional.empty()
                        : Optional.of(new VolumeOwner(newest, ThisProcess.isHere(newest)));
            } catch (StorageException _) { // interrupted
                return Optional.empty();
            }
        }

        @Override
        public void close() { open.values().forEach(CandidateSearch::closeQuietly); }
    }
}
