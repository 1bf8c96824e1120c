package lunar.raid.metadata;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.stream.Stream;
import lunar.block.BlockDevice;
import lunar.block.DeviceGoneException;
import lunar.block.InvalidRequestException;
import lunar.block.StorageException;
import lunar.raid.BadBlockList;
import lunar.raid.Completion;
import lunar.raid.RaidMember;
import lunar.raid.ReshapeState;
import lunar.raid.SlotState;
import lunar.raid.StateKeeper;
import lunar.raid.StripeChange;
import lunar.raid.StripeSet;
import lunar.raid.VolumeState;
import lunar.raid.WriteGuard;
import lunar.raid.metadata.Composition.Resync;
import lunar.raid.metadata.Composition.Use;
import lunar.raid.metadata.bitmap.BadBlocks;
import lunar.raid.metadata.bitmap.IntentBitmap;
import lunar.raid.metadata.bitmap.IntentBitmap.Intent;
import lunar.raid.metadata.checksum.MemberChecksums;
import lunar.raid.metadata.journal.VolumeJournal;
import lunar.raid.metadata.page.MemberSet;
import lunar.raid.metadata.page.PageWriter;
import lunar.raid.metadata.record.MemberRecord;
import lunar.raid.metadata.record.Superblock;
import lunar.raid.metadata.record.VolumeDescription;
import lunar.raid.metadata.record.VolumeRecord;
import lunar.raid.metadata.superblock.Superblocks;
import org.jspecify.annotations.Nullable;

/**
 * The metadata of a volume that is in use, behind the engine's interfaces: its guard, the bitmap and the journal, and
 * its keeper, the superblocks. {@link #open} makes a composition ready: it replays the journal, mends what a crash has
 * torn, and notes which members are missing.
 *
 * <p><b>A device that comes into a slot</b> ({@link #admit}, {@link #takeSpare}) gets all metadata from the moment on
 * when the failure of the slot is stable; the table gets it with the state REBUILDING, in one change: so after a crash
 * at any moment it is in the slot, or what it was before.
 */
public final class VolumeMetadata implements WriteGuard, StateKeeper {
    private final Superblocks superblocks;
    private final MemberSet members;
    private final List<MemberSet> sets;
    private final BadBlocks badBlocks;
    private final @Nullable IntentBitmap bitmap;
    private final @Nullable VolumeJournal journal;
    private final Resync resync;
    private final StripeSet stale;
    private final int replayed;
    private final MemberChecksums checksums;
    private final OpenOptions options;
    private final FaultListener faults;
    private volatile boolean paused;
    /** Whether a change is not all in place. */
    private volatile boolean isTorn;
    /** Members have lost writes, and the volume goes on; and it has not said yet that it compares what they have. */
    private volatile boolean isSuspect, isSuspectNews;
    private final Spares spares = new Spares();
    private final HalfWrittenFlag half;
    /** Members that get what they need to be ACTIVE. */
    private final MetadataSyncQueue joinings;
    private final IncomingMembers incoming;
    /** Guarded by this. */
    private @Nullable VolumeState wanted;

    private VolumeMetadata(MetadataOpening opening, OpenOptions options, FaultListener faults) {
        this.faults = faults;
        this.options = options.withoutJournalReset();
        checksums = opening.checksums;
        superblocks = opening.superblocks;
        members = opening.members;
        sets = Stream.of(members, opening.superblockMembers, opening.holders).distinct().toList();
        badBlocks = opening.badBlocks;
        half = new HalfWrittenFlag(superblocks,
                () -> resyncedStripes().orElse(VolumeRecord.IN_SYNC));
        bitmap = opening.bitmap;
        journal = opening.journal;
        resync = opening.resync;
        stale = opening.stale;
        replayed = opening.replayed();
        joinings = new MetadataSyncQueue(members, badBlocks, bitmap, journal);
        incoming = new IncomingMembers(members, superblocks, writers(), bitmap, joinings,
                opening.failed());
    }

    private List<PageWriter> writers() {
        var writers = new ArrayList<PageWriter>(List.of(badBlocks.writer()));
        if (bitmap != null) {
            writers.add(bitmap.writer());
        }
        if (journal != null) {
            writers.addAll(journal.pages());
        }
        return writers;
    }

    /**
     * Makes a volume ready. After a crash this is where entries of the journal are written in place. Blocks.
     *
     * @param faults told of members that fail: the volume, or the next opening, does without ({@code RaidVolume.fail})
     * @throws InvalidRequestException if the operator must decide first; one line
     * @throws StorageException where a member fails, which is to be left out then
     */
    public static VolumeMetadata open(Composition composition, VolumeDevices devices,
            OpenOptions options, FaultListener faults) throws StorageException {
        var told = new FaultDispatcher(faults);
        var metadata = new VolumeMetadata(
                MetadataOpening.of(composition, devices, options, told), options, faults);
        told.metadata = metadata;
        List<MemberRecord> table = composition.volume().spares();
        for (int i = 0; i < table.size(); i++) {
            BlockDevice spare = devices.spare(i);
            if (spare != null) {
                metadata.spares.put(table.get(i).uuid(), metadata.member(spare));
            }
        }
        for (int slot = 0; slot < composition.slots().size(); slot++) {
            if (composition.slots().get(slot).use() == Use.REBUILDING) {
                metadata.joinings.join(slot);
            }
        }
        return metadata;
    }

    /** Notes that a device coming into a slot has not taken metadata. */
    void incomingFailed(int slot) {
        incoming.failed(slot);
    }

    /** Returns the slot that a spare is coming into; -1 where it is not. */
    int slotOf(UUID spare) {
        return incoming.slotOf(spare);
    }

    /** Returns the members for the slots of the engine. */
    public List<RaidMember> raidMembers() {
        return superblocks.record().raidMembers(members::given, dataOffset());
    }

    /** Returns the state of a reshape; null if none is under way. */
    public @Nullable ReshapeState reshaping() {
        return ReshapeStateStore.of(superblocks, badBlocks, bitmap);
    }

    /** Returns the stripes for the engine to compare: their redundancy may not be true. */
    public StripeSet stale() {
        return stale;
    }

    /** Returns the stripes that a member may have missed which was away, and is covered by the bitmap. */
    public StripeSet missed() {
        return bitmap == null ? StripeSet.ALL : bitmap.markedStripes();
    }

    /** Whether the intent bitmap has all writes that a member with this superblock has missed. */
    public boolean covers(Superblock found) {
        return bitmap != null && Assembly.isCovered(record(), found);
    }

    /**
     * Whether a member that has failed was in use since without the other members. To be asked when its failure is
     * stable on these: from then on they are at least one event ahead of it.
     */
    public boolean wasUsedAlone(Superblock found) {
        VolumeRecord record = record();
        return found.volume().events() >= record.events() || Assembly.wentApart(record, found);
    }

    /** Returns the number of journal entries that were written in place when the volume was opened. */
    public int replayed() {
        return replayed;
    }

    /** Returns the volume's record in the superblocks, the latest change included. */
    public VolumeRecord record() {
        return superblocks.record();
    }

    /** Returns the bad-block list. */
    public BadBlockList badBlockList() { return badBlocks; }

    /** Returns the number of blocks that have lost their content. */
    public long lostBlockCount() {
        return badBlocks.ranges().stream().mapToLong(BadBlocks.Range::blocks).sum();
    }

    BadBlocks badBlocks() { return badBlocks; }

    /** The intent bitmap; null where there is none. */
    public @Nullable IntentBitmap bitmap() {
        return bitmap;
    }

    /** The journal; null where there is none. */
    @Nullable
    VolumeJournal journal() { return journal; }

    @Override
    public int maxBytes() {
        return journal == null ? Integer.MAX_VALUE : journal.maxDataBytes(members.slots());
    }

    @Override
    public void begin(StripeChange change, Ready ready) {
        GuardedChange guarded;
        if (change.attachment() instanceof GuardedChange earlier) {
            guarded = earlier;
        } else {
            guarded = new GuardedChange(superblocks.record().description().blockSize());
            change.attach(guarded);
        }
        guarded.begin(change, ready, bitmap, journal);
    }

    /** {@inheritDoc} If the change is not all in place, its bit and entries stay until the next start of the volume. */
    @Override
    public void end(StripeChange change, boolean written) {
        if (change.attachment() instanceof GuardedChange guarded) {
            if (written) {
                guarded.end(change, bitmap, journal);
            } else {
                isTorn = true;
                change.attach(new GuardedChange(superblocks.record().description().blockSize()));
            }
        }
    }

    @Override
    public void halfWritten(Ready ready) { half.add(ready); }

    @Override
    public void resynced(StripeSet left) { half.resynced(left); }

    @Override
    public void beginResync(long firstStripe, long stripeCount, Ready ready) {
        if (bitmap == null || bitmap.begin(new Intent((_, failure) -> ready.ready(failure))
                .over(firstStripe, stripeCount))) {
            ready.ready(null);
        }
    }

    @Override
    public void endResync(long firstStripe, long stripeCount) {
        if (bitmap != null) {
            bitmap.end(new Intent((_, _) -> {}).over(firstStripe, stripeCount));
        }
    }

    @Override
    public void settle(Runnable done) {
        if (journal == null) {
            done.run();
        } else {
            journal.drain(done);
        }
    }

    // --- members that come and go ---

    /**
     * Admits a device to a slot that has failed: it gets the metadata at once, or as soon as the failure is stable, and
     * its entry in the table with the next state that says REBUILDING. What a new member had before in its metadata
     * area is erased. Blocks.
     *
     * @param uuid a random UUID for a new member, its own for one that comes back
     * @param isNew whether it has not been in this slot before
     * @throws InvalidRequestException where the slot has not failed
     */
    public void admit(int slot, BlockDevice device, UUID uuid, boolean isNew)
            throws StorageException {
        VolumeRecord record = superblocks.record();
        record.requireFailed(slot);
        if (isNew) {
            Creation.clear(device, record.description().layout());
        }
        incoming.add(slot, member(device), uuid);
    }

    /**
     * Keeps the member of a slot out until an operator wants it back: its entry says so with the next state that calls
     * it FAILED, or now where that is what it is. It is so until a device comes into the slot.
     * @param completion told when that is stable; at once where it is to be said with the next state
     */
    public void takeOut(int slot, Completion completion) {
        incoming.takeOut(slot);
        if (superblocks.record().members().get(slot).state() == SlotState.FAILED) {
            superblocks.change(record -> incoming.isOut(slot) ? record.withOut(slot) : record,
                    completion);
        } else {
            completion.completed(null);
        }
    }

    @Override
    public BlockDevice member(BlockDevice device) { return checksums.over(device); }

    /** The spares that the table has, those that are being taken left out. */
    public List<Spare> spares() {
        List<UUID> taken = incoming.uuids();
        return superblocks.record().spares().stream()
                .filter(entry -> !taken.contains(entry.uuid()))
                .map(entry -> new Spare(entry.uuid(), entry.dataBlocks(),
                        spares.device(entry.uuid()) == null || !superblocks.has(entry.uuid())))
                .toList();
    }

    /**
     * Adds a spare; what it had before in its metadata area is erased. It stays the caller's until it is taken. Blocks.
     *
     * @param uuid a random UUID
     * @param completion told when the table that names it is stable
     * @throws InvalidRequestException where the device does not fit, or the table is full; one line
     */
    public void addSpare(String uri, BlockDevice device, UUID uuid, Completion completion)
            throws StorageException {
        spares.add(superblocks, uri, member(device), uuid, completion);
    }

    /** Takes back a spare that was away: it can be taken again. Fails where the table has no such spare. */
    public void returnSpare(UUID uuid, BlockDevice device) throws InvalidRequestException {
        requireSpare(uuid);
        spares.takeBack(superblocks, uuid, member(device));
    }

    /**
     * A spare belongs to the volume no more.
     *
     * @param completion told when the table without it is stable; then {@link Creation#destroy} takes its superblock
     *        away
     * @throws InvalidRequestException where the table has no such spare, or it is being taken
     */
    public void removeSpare(UUID uuid, Completion completion) throws InvalidRequestException {
        requireSpare(uuid);
        BlockDevice _ = spares.remove(uuid);
        superblocks.drop(uuid);
        superblocks.change(now -> now.withoutSpare(uuid), completion);
    }

    private void requireSpare(UUID uuid) throws InvalidRequestException {
        if (spares().stream().noneMatch(spare -> spare.uuid().equals(uuid))) {
            throw new InvalidRequestException(uuid + " is no spare of volume "
                    + superblocks.record().description().title());
        }
    }

    /**
     * Takes the smallest spare that fits for a slot that has failed, as {@link #admit} takes other devices: the volume
     * is to replace the slot's member by it, and owns it then. Blocks.
     *
     * @return empty where no spare fits
     * @throws InvalidRequestException where the slot has not failed
     */
    public Optional<BlockDevice> takeSpare(int slot) throws InvalidRequestException {
        VolumeRecord record = superblocks.record();
        record.requireFailed(slot);
        UUID uuid = spares.choose(record, slot, superblocks);
        BlockDevice device = uuid == null ? null : spares.remove(uuid);
        if (uuid == null || device == null) {
            return Optional.empty();
        }
        incoming.add(slot, member(device), uuid);
        return Optional.of(MemberChecksums.bare(device));
    }

    /** Returns the first block of the members' data areas. */
    public long dataOffset() {
        VolumeDescription what = superblocks.record().description();
        return what.layout().dataBytes() / what.blockSize();
    }

    @Override
    public void whenJoined(int slot, Runnable joined) { joinings.whenJoined(slot, joined); }

    @Override
    public void keep(VolumeState state, Completion done) {
        synchronized (this) {
            wanted = state;
        }
        isSuspectNews &= state.resyncedStripes().isEmpty();
        var fallen = new ArrayList<Integer>();
        superblocks.change(record -> changed(record, state, fallen), failure -> {
            if (failure == null) {
                kept(state);
            }
            done.completed(failure);
        });
        for (int slot : fallen) {
            incoming.drop(slot);
            faults.failed(slot, new DeviceGoneException(
                    "the device that came into slot " + slot + " has not taken its metadata"));
        }
    }

    /** @param fallen gets slots of members that had failed before the volume knew that they had come */
    private VolumeRecord changed(VolumeRecord record, VolumeState state, List<Integer> fallen) {
        VolumeRecord changed = record;
        for (int slot = 0; slot < state.slots().size(); slot++) {
            MemberRecord entry = changed.members().get(slot);
            SlotState is = state.slots().get(slot);
            IncomingMember member = is == SlotState.REBUILDING ? incoming.take(slot) : null;
            if (member != null) {
                entry = new MemberRecord(member.uuid, SlotState.FAILED, entry.dataBlocks(), 0)
                        .failedSince(member.uuid.equals(entry.uuid()) ? entry.failedSince() : 0);
                changed = Spares.taken(changed, slot, entry);
            }
            if (is == SlotState.REBUILDING && entry.state() == SlotState.FAILED
                    && member == null) {
                fallen.add(slot);
                continue;
            }
            changed = changed.with(slot, switch (is) {
                case ACTIVE -> entry.as(SlotState.ACTIVE);
                case FAILED, SPARE ->
                    incoming.isOut(slot) ? entry.out() : entry.as(SlotState.FAILED);
                case REBUILDING -> entry.rebuilt(state.rebuiltStripes().get(slot));
            });
        }
        if (half.isThere()) {
            return changed.withResyncNext(0);
        }
        // After a crash, regions that the bitmap names are compared again from the start: that is little.
        return resync == Resync.WHOLE || isSuspect
                ? changed.withResyncNext(state.resyncedStripes().orElse(VolumeRecord.IN_SYNC))
                : changed;
    }

    private void kept(VolumeState state) {
        List<IncomingMember> next = incoming.stable(state);
        if (bitmap != null) {
            if (state.resyncedStripes().isEmpty() && !isSuspectNews) {
                bitmap.allSynced();
            }
            bitmap.hold(!state.slots().stream().allMatch(slot -> slot == SlotState.ACTIVE));
        }
        next.forEach(incoming::install);
    }

    /** Clears bits that are not needed, and frees journal entries that are in place. Called every few seconds. */
    public void tick() {
        if (paused) {
            return;
        }
        if (bitmap != null) {
            bitmap.tick();
        }
        if (journal != null) {
            journal.tick();
        }
    }

    /** {@inheritDoc} Members that do not answer are told to the volume as having failed. */
    @Override
    public void watch() { sets.forEach(MemberSet::tick); }

    @Override
    public StripeSet suspect() {
        if (journal != null) {
            journal.lost();
        }
        isSuspect = true;
        isSuspectNews = true;
        checksums.suspect();
        return bitmap == null ? StripeSet.ALL : bitmap.suspect();
    }

    @Override
    public void suspectKept() {
        if (journal != null) {
            journal.lossNoted();
        }
    }

    @Override
    public void goOnAfterLoss() { sets.forEach(MemberSet::sendLostAgain); }

    @Override
    public void failedAfterLoss(int slot) { superblocks.dropLost(slot); }

    @Override
    public void abandon(StorageException why) {
        paused = true;
        sets.forEach(set -> set.abandon(why));
    }

    @Override
    public long beginFlush() { return journal == null ? 0 : journal.beforeFlush(); }

    @Override
    public void endFlush(long begun) {
        if (journal != null) {
            journal.afterFlush(begun);
        }
    }

    /**
     * Nothing is written any more, for {@link Growth}; the volume is paused already, and this is not to be used
     * afterwards but for that.
     *
     * @param idle told when all that was under way is stable
     */
    public void pause(Completion idle) {
        paused = true;
        if (bitmap == null) {
            superblocks.change(record -> record, idle);
        } else {
            bitmap.hold(true); // a flush under way leads to nothing
            settle(() -> bitmap.write(() -> superblocks.change(record -> record, idle)));
        }
    }

    /** Resumes after a pause, with the volume unchanged. */
    public void resume() {
        paused = false;
        if (bitmap != null) {
            bitmap.hold(!superblocks.record().isWhole());
        }
    }

    OpenOptions options() { return options; }

    @Nullable
    BlockDevice spareDevice(UUID uuid) { return spares.device(uuid); }

    /** Whether each slot has a member with all data, that has got all metadata, too. */
    boolean isWhole() {
        VolumeRecord record = superblocks.record();
        return record.isWhole() && members.isWhole()
                && record.members().subList(0, members.slots()).stream()
                        .allMatch(entry -> superblocks.has(entry.uuid()));
    }

    /** Returns the stripe up to which redundancy is true; empty if no resync is due. */
    synchronized OptionalLong resyncedStripes() {
        VolumeState last = wanted;
        boolean isStale = stale.next(0) != StripeSet.NONE;
        return last != null
                ? last.resyncedStripes()
                : isStale ? OptionalLong.of(0) : OptionalLong.empty();
    }

    /**
     * Nothing is written any more, and all that was is stable. Where a write is in place in part only, the next start
     * is as after a crash.
     */
    public void stop(Completion completion) {
        superblocks.change(record -> record.withClean(!isTorn), completion);
    }
}
