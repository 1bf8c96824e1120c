package lunar.raid.meta;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.block.InvalidRequestException;
import lunar.block.StorageException;
import lunar.raid.RaidMember;
import lunar.raid.SlotState;
import lunar.raid.StateKeeper;
import lunar.raid.StripeChange;
import lunar.raid.StripeSet;
import lunar.raid.VolumeState;
import lunar.raid.WriteGuard;
import lunar.raid.meta.Composition.Resync;
import lunar.raid.meta.Composition.Use;
import org.jspecify.annotations.Nullable;

/**
 * The metadata of a volume that is in use, behind what the engine asks for: its guard, the bitmap and the journal, and
 * its keeper, the superblocks. {@link #open} makes a composition ready: it replays the journal, mends what a crash has
 * torn, and notes who is missing.
 */
public final class VolumeMetadata implements WriteGuard, StateKeeper {
    private final Superblocks superblocks;
    private final MemberSet superblockMembers;
    private final MemberSet members;
    private final BadBlocks badBlocks;
    private final @Nullable IntentBitmap bitmap;
    private final @Nullable StripeJournal journal;
    private final boolean journalOnMembers;
    private final Resync resync;
    private final StripeSet stale;
    private final int replayed;
    /** Members that get what they need to be ACTIVE; the first one is at it. Guarded by this, as the next two. */
    private final Deque<Joining> joining = new ArrayDeque<>();
    /** Slots whose members have got it, as bits. */
    private long joined;
    private @Nullable VolumeState wanted;

    private VolumeMetadata(Opening opening) {
        superblocks = opening.superblocks;
        superblockMembers = opening.superblockMembers;
        members = opening.members;
        badBlocks = opening.badBlocks;
        bitmap = opening.bitmap;
        journal = opening.journal;
        journalOnMembers = opening.holders == opening.members;
        resync = opening.composition.resync();
        stale = opening.stale;
        replayed = opening.replayed;
    }

    /**
     * Makes a volume ready. After a crash this is where entries of the journal are written in place. Blocks.
     *
     * @param devices by slot, the members that the composition uses; null where it has none
     * @param journalDevice the device that has the journal, where one has
     * @param faults told of members that do not take metadata: the volume is to fail them ({@code RaidVolume.fail})
     * @throws StorageException where a member fails, which is to be left out then
     */
    public static VolumeMetadata open(Composition composition,
            List<? extends @Nullable BlockDevice> devices, @Nullable BlockDevice journalDevice,
            MemberSet.Faults faults) throws StorageException {
        var metadata = new VolumeMetadata(
                new Opening(composition, devices, journalDevice, faults));
        for (int slot = 0; slot < composition.slots().size(); slot++) {
            if (composition.slots().get(slot).use() == Use.REBUILDING) {
                metadata.join(slot);
            }
        }
        return metadata;
    }

    /** The steps of opening, each of which may be done again after a crash. */
    private static final class Opening {
        private final Composition composition;
        private final VolumeRecord volume;
        private final VolumeDescription what;
        private final MemberSet superblockMembers;
        private final MemberSet members;
        private final MemberSet holders;
        private final Superblocks superblocks;
        private final BadBlocks badBlocks;
        private @Nullable IntentBitmap bitmap;
        private @Nullable StripeJournal journal;
        private StripeSet stale = StripeSet.EMPTY;
        private int replayed;

        Opening(Composition composition, List<? extends @Nullable BlockDevice> devices,
                @Nullable BlockDevice journalDevice, MemberSet.Faults faults)
                throws StorageException {
            this.composition = composition;
            volume = composition.volume();
            what = volume.description();
            members = new MemberSet(what.slots(), faults);
            superblockMembers = droppingAtOnce(what.slots(), faults);
            for (int slot = 0; slot < what.slots(); slot++) {
                Use use = composition.slots().get(slot).use();
                BlockDevice device = devices.get(slot);
                if (device != null && (use == Use.IN_SYNC || use == Use.REBUILDING)) {
                    members.add(slot, device);
                    superblockMembers.add(slot, device);
                }
            }
            holders = journalDevice == null ? members : droppingAtOnce(1, (_, _) -> {});
            if (journalDevice != null) {
                holders.add(0, journalDevice);
            }
            badBlocks = BadBlocks.open(members, volume, composition.inSync());
            if (what.consistency() != Consistency.NONE) {
                boolean compare = composition.resync() != Resync.NONE && !volume.clean()
                        && what.consistency() == Consistency.BITMAP;
                bitmap = IntentBitmap.open(members, volume, composition.inSync(), compare);
                bitmap.hold(composition.isDegraded());
            }
            if (what.consistency() == Consistency.JOURNAL) {
                journal = replay(journalDevice != null);
            }
            stale = stale();
            superblocks = Superblocks.open(superblockMembers, volume);
            superblocks.start(this::withoutMissing);
        }

        private static MemberSet droppingAtOnce(int slots, MemberSet.Faults faults) {
            var sets = new MemberSet[1];
            sets[0] = new MemberSet(slots, (slot, why) -> {
                sets[0].drop(slot);
                faults.failed(slot, why);
            });
            return sets[0];
        }

        private StripeJournal replay(boolean ownDevice) throws StorageException {
            long inSync = composition.inSync();
            JournalReplay replay = JournalReplay.of(volume, holders, ownDevice ? 1 : inSync,
                    members, inSync, bitmap == null ? JournalReplay.ANY : bitmap.forReplay());
            List<BadBlocks.Range> bad = new TornStripes(volume, members, inSync)
                    .mend(replay.torn());
            badBlocks.addNow(bad);
            replayed = replay.replayed();
            return replay.begin(ownDevice
                    ? 1
                    : lowest(inSync, Creation.journalCopies(what.level())));
        }

        private StripeSet stale() {
            return switch (composition.resync()) {
                case NONE -> StripeSet.EMPTY;
                case DIRTY -> dirty();
                case WHOLE -> {
                    boolean all = !volume.clean() && what.consistency() == Consistency.NONE;
                    long from = all ? 0 : Math.max(0, volume.resyncNext());
                    StripeSet before = dirty();
                    yield at -> Math.min(Math.max(at, from), before.next(at));
                }
            };
        }

        private StripeSet dirty() { return bitmap == null ? StripeSet.EMPTY : bitmap.unsynced(); }

        private VolumeRecord withoutMissing(VolumeRecord record) {
            VolumeRecord changed = record;
            for (int slot = 0; slot < what.slots(); slot++) {
                Use use = composition.slots().get(slot).use();
                if (use != Use.IN_SYNC && use != Use.REBUILDING) {
                    changed = changed.with(slot,
                            changed.members().get(slot).as(SlotState.FAILED));
                }
            }
            return changed;
        }
    }

    /** The lowest bits of a set. */
    private static long lowest(long set, int count) {
        long some = 0;
        long left = set;
        for (int i = 0; i < count && left != 0; i++) {
            some |= Long.lowestOneBit(left);
            left &= left - 1;
        }
        return some;
    }

    /** What the engine puts in its slots. */
    public List<RaidMember> raidMembers() {
        VolumeRecord record = superblocks.record();
        VolumeDescription what = record.description();
        long offset = what.layout().dataBytes() / what.blockSize();
        var slots = new ArrayList<RaidMember>();
        for (int slot = 0; slot < what.slots(); slot++) {
            BlockDevice device = members.device(slot);
            MemberRecord line = record.members().get(slot);
            slots.add(device == null || line.state() == SlotState.FAILED
                    ? RaidMember.missing()
                    : new RaidMember(device, offset, line.state(), line.rebuiltStripes()));
        }
        return slots;
    }

    /** Stripes whose redundancy may not be true, for the engine to compare. */
    public StripeSet stale() {
        return stale;
    }

    /** Stripes of which a member that was away, and is covered by the bitmap, may have missed something. */
    public StripeSet missed() {
        return bitmap == null ? StripeSet.ALL : bitmap.markedStripes();
    }

    /** Entries of the journal that were written in place when the volume was opened. */
    public int replayed() {
        return replayed;
    }

    /** The volume as its superblocks tell it, the latest change included. */
    public VolumeRecord record() {
        return superblocks.record();
    }

    /** Blocks that have lost their content. */
    public BadBlocks badBlocks() { return badBlocks; }

    /** The intent bitmap; null where there is none. */
    public @Nullable IntentBitmap bitmap() {
        return bitmap;
    }

    /** The journal; null where there is none. */
    public @Nullable StripeJournal journal() {
        return journal;
    }

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

    /** Where not all is in place bit and entries stay, until the next start of the volume brings them in place. */
    @Override
    public void end(StripeChange change, boolean written) {
        if (change.attachment() instanceof GuardedChange guarded) {
            if (written) {
                guarded.end(bitmap, journal, change.fua());
            } else {
                change.attach(new GuardedChange(superblocks.record().description().blockSize()));
            }
        }
    }

    /**
     * A device is to come into a slot that has failed: it gets the metadata from now on, and its line in the table
     * with the next state that says REBUILDING. What a new member had before in its metadata area is erased. Blocks.
     *
     * @param uuid who it is: a random UUID for a new one, its own for one that comes back
     * @param isNew whether it has not been in this slot before
     */
    public void admit(int slot, BlockDevice device, UUID uuid, boolean isNew)
            throws StorageException {
        VolumeRecord record = superblocks.record();
        MemberRecord line = record.members().get(slot);
        if (line.state() != SlotState.FAILED) {
            throw new InvalidRequestException("slot " + slot + " is " + line.state());
        }
        if (isNew) {
            Creation.clear(device, record.description().layout());
        }
        superblocks.replace(slot, new MemberRecord(uuid, SlotState.FAILED, line.dataBlocks(), 0));
        superblockMembers.add(slot, device);
        members.add(slot, device);
        if (bitmap != null) {
            bitmap.hold(true);
        }
        join(slot);
    }

    /** Does not wait for {@link Joining}: until then a member that is ACTIVE is noted as it was before. */
    @Override
    public void keep(VolumeState state, Done done) {
        synchronized (this) {
            wanted = state;
        }
        superblocks.change(record -> changed(record, state), failure -> {
            if (failure == null) {
                kept(state);
            }
            done.kept(failure);
        });
    }

    /**
     * Gives a member what those that are in sync have, one member after the other: the pages as they are now, and the
     * journal where copies are missing. Before that it must not be noted as ACTIVE, since then its word counts.
     */
    private final class Joining {
        private final int slot;

        Joining(int slot) { this.slot = slot; }

        void start() {
            badBlocks.write(() -> {
                if (bitmap == null) {
                    joinJournal();
                } else {
                    bitmap.write(this::joinJournal);
                }
            });
        }

        private void joinJournal() {
            if (journal == null || !journalOnMembers || Long.bitCount(journal.copies()) >= Creation
                    .journalCopies(superblocks.record().description().level())) {
                done();
                return;
            }
            try {
                journal.join(slot, this::done);
            } catch (InvalidRequestException e) {
                members.report(slot, e);
                done();
            }
        }

        private void done() {
            Joining next;
            VolumeState state;
            synchronized (VolumeMetadata.this) {
                joined |= members.active() & 1L << slot;
                joining.poll();
                next = joining.peek();
                state = wanted;
            }
            if (state != null && state.slots().get(slot) == SlotState.ACTIVE) {
                superblocks.change(record -> changed(record, state), _ -> {});
            }
            if (next != null) {
                next.start();
            }
        }
    }

    private void join(int slot) {
        var one = new Joining(slot);
        boolean first;
        synchronized (this) {
            first = joining.isEmpty();
            joining.add(one);
        }
        if (first) {
            one.start();
        }
    }

    private VolumeRecord changed(VolumeRecord record, VolumeState state) {
        VolumeRecord changed = record;
        for (int slot = 0; slot < state.slots().size(); slot++) {
            MemberRecord line = changed.members().get(slot);
            changed = changed.with(slot, switch (state.slots().get(slot)) {
                case ACTIVE -> line.state() == SlotState.ACTIVE || hasJoined(slot)
                        ? line.as(SlotState.ACTIVE)
                        : line;
                case FAILED, SPARE -> line.as(SlotState.FAILED);
                case REBUILDING -> line.rebuilt(state.rebuiltStripes().get(slot));
            });
        }
        // What a bitmap names is compared again from the start, where a crash comes between: that is little.
        return resync == Resync.WHOLE ? changed.withResyncNext(state.resyncedStripes()) : changed;
    }

    private synchronized boolean hasJoined(int slot) { return (joined & 1L << slot) != 0; }

    private void kept(VolumeState state) {
        for (int slot = 0; slot < state.slots().size(); slot++) {
            if (state.slots().get(slot) == SlotState.FAILED) {
                synchronized (this) {
                    joined &= ~(1L << slot);
                }
                superblockMembers.drop(slot);
                members.drop(slot);
            }
        }
        if (bitmap != null) {
            if (state.resyncedStripes() < 0) {
                bitmap.allSynced();
            }
            bitmap.hold(!state.slots().stream().allMatch(slot -> slot == SlotState.ACTIVE));
        }
    }

    /** Some seconds have passed: bits that are not needed go, and entries that are in place are made free. */
    public void tick() {
        if (bitmap != null) {
            bitmap.tick();
        }
        if (journal != null) {
            journal.tick();
        }
    }

    /** The volume is stopped: nothing is written to it any more, and all that was is stable. */
    public void stop(Superblocks.Kept kept) {
        superblocks.stop(kept);
    }
}
