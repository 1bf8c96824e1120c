package lunar.raid.metadata;

import java.util.OptionalInt;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.block.InvalidRequestException;
import lunar.block.LostWritesException;
import lunar.block.NoSpaceException;
import lunar.block.ReservationConflictException;
import lunar.block.StorageException;
import lunar.raid.SlotState;
import lunar.raid.StripeSet;
import lunar.raid.layout.Layout;
import lunar.raid.metadata.Composition.Resync;
import lunar.raid.metadata.Composition.Use;
import lunar.raid.metadata.bitmap.BadBlocks;
import lunar.raid.metadata.bitmap.IntentBitmap;
import lunar.raid.metadata.checksum.MemberChecksums;
import lunar.raid.metadata.journal.JournalReplay;
import lunar.raid.metadata.journal.VolumeJournal;
import lunar.raid.metadata.page.MemberSet;
import lunar.raid.metadata.page.RetryingDevice;
import lunar.raid.metadata.record.Consistency;
import lunar.raid.metadata.record.ReshapeRecord;
import lunar.raid.metadata.record.Superblock;
import lunar.raid.metadata.record.VolumeDescription;
import lunar.raid.metadata.record.VolumeRecord;
import lunar.raid.metadata.superblock.Superblocks;
import org.jspecify.annotations.Nullable;

/** The steps of opening a volume, each of which may be done again after a crash. Blocks. */
final class MetadataOpening {
    final Composition composition;
    final MemberSet members;
    final MemberSet superblockMembers;
    final Superblocks superblocks;
    final BadBlocks badBlocks;
    final @Nullable IntentBitmap bitmap;
    final @Nullable VolumeJournal journal;
    final MemberSet holders;
    final Resync resync;
    final StripeSet stale;
    final MemberChecksums checksums;
    private final VolumeRecord volume;
    /** The description to open with: without its journal, or with a new one, where the old one is lost. */
    private final VolumeDescription what;
    private final VolumeRecord moved;
    private int replayed;
    /** A write could not be completed, as members had no space: all redundancy is to be compared. */
    private boolean lacksSpace;

    /**
     * Opens the volume.
     *
     * @param faults also told of the member whose failure ends the opening, so that the next one can do without it. A
     *        lack of space and another owner's reservation are no failures of a member
     */
    static MetadataOpening of(Composition composition, VolumeDevices devices, OpenOptions options,
            FaultDispatcher faults) throws StorageException {
        var members = new MemberSet(composition.volume().description().slots(), options.policy(),
                faults);
        try {
            return new MetadataOpening(composition, devices, options, faults, members);
        } catch (NoSpaceException | ReservationConflictException e) {
            throw e;
        } catch (StorageException e) {
            int slot = members.slotOf(e);
            if (slot >= 0 && composition.slots().get(slot).candidate().isPresent()) {
                faults.failed(slot, e);
            }
            throw e;
        }
    }

    private MetadataOpening(Composition composition, VolumeDevices devices, OpenOptions options,
            FaultDispatcher faults, MemberSet members) throws StorageException {
        this.composition = composition;
        this.members = members;
        volume = composition.volume();
        JournalReset reset = options.journalReset();
        what = described(volume.description(), reset);
        BlockDevice journalDevice = journalDevice(devices, reset);
        Resync due = reset == null || volume.clean() ? composition.resync() : Resync.WHOLE;
        checksums = new MemberChecksums(volume, options.verifies());
        var superblockFaults = new SuperblockFaults(faults);
        superblockMembers = new MemberSet(Superblock.MAX_MEMBERS, options.policy(),
                superblockFaults);
        for (int slot = 0; slot < what.slots(); slot++) {
            Use use = composition.slots().get(slot).use();
            BlockDevice device = devices.slots().get(slot);
            if (device != null && (use == Use.IN_SYNC || use == Use.REBUILDING)) {
                RetryingDevice member = members.retrying(checksums.over(device));
                members.add(slot, member);
                superblockMembers.add(slot, member);
            }
        }
        for (int i = 0; i < volume.spares().size(); i++) {
            BlockDevice spare = devices.spare(i);
            if (spare != null) {
                superblockMembers.add(what.slots() + i, checksums.over(spare));
            }
        }
        if (journalDevice == null) {
            holders = members;
        } else {
            var dropping = new Dropping();
            holders = new MemberSet(1, options.policy(), dropping);
            dropping.set = holders;
            holders.add(0, journalDevice);
        }
        badBlocks = BadBlocks.open(members, volume, composition.inSync());
        if (what.consistency() == Consistency.NONE) {
            bitmap = null;
        } else {
            boolean compare = due != Resync.NONE && !volume.clean()
                    && what.consistency() == Consistency.BITMAP;
            bitmap = IntentBitmap.open(members, volume, composition.inSync(), compare);
            bitmap.hold(composition.isDegraded());
            if (!volume.clean()) {
                checksums.lose(volume, members, bitmap.markedStripes());
            }
        }
        JournalReplay replay = what.consistency() == Consistency.JOURNAL
                ? replay(reset, journalDevice)
                : null;
        long holding = journalDevice == null ? composition.inSync() : 1;
        // After a crash the journal begins anew only when the superblocks tell which members are missing, and of the
        // resync: until then it alone knows what these members lack, and what others had no space for. It may be
        // replayed once more, also when the reshape is further: of rows that are staged nothing is in it. After a stop
        // in order it begins before the volume is in use: otherwise a crash would have it replayed.
        VolumeJournal begun = replay != null && volume.clean() ? replay.begin(holding) : null;
        resync = lacksSpace ? Resync.WHOLE : due;
        moved = StagedRows.bringInPlace(volume, members, composition.inSync(), badBlocks);
        stale = stale();
        superblocks = Superblocks.open(superblockMembers, volume);
        superblockFaults.superblocks = superblocks;
        superblocks.start(this::started);
        journal = replay != null && begun == null ? replay.begin(holding) : begun;
    }

    /**
     * Gives no more superblocks to a member that does not take one; where it is in a slot, that fails. Whether one
     * stays that has lost writes is for the volume to decide ({@link VolumeMetadata#failedAfterLoss}).
     */
    private final class SuperblockFaults implements MemberSet.Faults {
        private final FaultDispatcher faults;
        private @Nullable Superblocks superblocks;

        SuperblockFaults(FaultDispatcher faults) { this.faults = faults; }

        @Override
        public void failed(int position, StorageException why) {
            Superblocks there = superblocks;
            OptionalInt index = there == null ? OptionalInt.empty() : there.indexAt(position);
            boolean isInSlot = index.isPresent() && index.getAsInt() < what.slots();
            // First, since it may be the end of the volume: then no change ends without a member
            // that is not called FAILED.
            if (isInSlot) {
                faults.failed(index.getAsInt(), why);
            }
            if (!(why instanceof LostWritesException && isInSlot)) {
                superblockMembers.drop(position);
            }
            if (there != null && index.isPresent() && !isInSlot) {
                faults.spareFailed(there.at(position), why);
            }
        }
    }

    private static final class Dropping implements MemberSet.Faults {
        private @Nullable MemberSet set;

        @Override
        public void failed(int slot, StorageException why) {
            MemberSet there = set;
            if (there != null) {
                there.drop(slot);
            }
        }
    }

    /** Returns the number of journal entries that were written in place. */
    int replayed() {
        return replayed;
    }

    private static VolumeDescription described(VolumeDescription now,
            @Nullable JournalReset reset) throws InvalidRequestException {
        if (reset != null && now.consistency() != Consistency.JOURNAL) {
            throw new InvalidRequestException("volume " + now.title()
                    + " has no journal: there is none to give up");
        }
        return reset == null ? now : reset.applyTo(now);
    }

    private @Nullable BlockDevice journalDevice(VolumeDevices devices,
            @Nullable JournalReset reset) throws InvalidRequestException {
        UUID own = what.journalDevice();
        if (own != null && devices.journal() == null) {
            throw new InvalidRequestException("volume " + what.title()
                    + " has its journal on a device of its own, " + own
                    + ": name it, or give the journal up where it is lost for good");
        }
        if (reset != null && !volume.clean() && composition.isDegraded()) {
            throw new InvalidRequestException("volume " + what.title() + " was not stopped in order"
                    + " and is degraded: without its journal what was being written to the missing"
                    + " members is not known; connect all members first");
        }
        if (reset != null && !volume.clean() && volume.reshape() != null) {
            throw new InvalidRequestException("volume " + what.title() + " was not stopped in order"
                    + " and is being reshaped: without its journal its parity cannot be told;"
                    + " connect the journal");
        }
        if (volume.reshape() != null && !ReshapeRecord.canBe(what)) {
            throw new InvalidRequestException("volume " + what.title()
                    + " is being reshaped, which takes a journal: give it a new one");
        }
        return own == null ? null : devices.journal();
    }

    private JournalReplay replay(@Nullable JournalReset reset, @Nullable BlockDevice own)
            throws StorageException {
        VolumeRecord after = volume.withDescription(what);
        if (reset != null && own != null) {
            Creation.createJournal(after, "the device of the new journal", own, true);
        }
        long inSync = composition.inSync();
        IntentBitmap regions = bitmap;
        JournalReplay replay = JournalReplay.of(after, holders, own == null ? inSync : 1, members,
                inSync, regions == null ? JournalReplay.ANY : regions.forReplay());
        var torn = new TornStripes(volume, members, inSync, badBlocks);
        torn.mend(replay.torn());
        replayed = replay.replayed();
        lacksSpace = replay.lacksSpace() || torn.lacksSpace();
        return replay;
    }

    private StripeSet stale() {
        return switch (resync) {
            case NONE -> StripeSet.EMPTY;
            case DIRTY -> dirty();
            case WHOLE -> {
                boolean all = !volume.clean() && (what.consistency() == Consistency.NONE
                        || !what.equals(volume.description()));
                long from = all ? 0 : Math.max(0, volume.resyncNext());
                StripeSet before = dirty();
                yield at -> Math.min(Math.max(at, from), before.next(at));
            }
        };
    }

    private StripeSet dirty() {
        IntentBitmap there = bitmap;
        return there == null ? StripeSet.EMPTY : there.unsynced();
    }

    private VolumeRecord started(VolumeRecord record) {
        VolumeRecord changed = record.withReshape(moved.reshape());
        changed = lacksSpace ? changed.withResyncNext(0) : changed;
        for (int slot = 0; slot < what.slots(); slot++) {
            Use use = composition.slots().get(slot).use();
            if (use != Use.IN_SYNC && use != Use.REBUILDING) {
                changed = changed.with(slot, changed.members().get(slot).as(SlotState.FAILED));
            }
        }
        if (!what.equals(volume.description())) {
            changed = changed.withDescription(what);
            changed = volume.clean() ? changed : changed.withResyncNext(0);
        }
        return changed;
    }

    /** Slots that are neither in sync nor being rebuilt, as bits. */
    long failed() {
        return Layout.all(what.slots()) & ~members.active();
    }
}
