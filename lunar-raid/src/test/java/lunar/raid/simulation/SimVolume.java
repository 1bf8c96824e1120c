package lunar.raid.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.block.Identity;
import lunar.block.StorageException;
import lunar.raid.Completion;
import lunar.raid.FailurePolicy;
import lunar.raid.RaidListener;
import lunar.raid.RaidMember;
import lunar.raid.RaidOptions;
import lunar.raid.ReshapeState;
import lunar.raid.SlotState;
import lunar.raid.StateKeeper;
import lunar.raid.StripeSet;
import lunar.raid.VolumeState;
import lunar.raid.engine.VolumeEngine;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Level;
import lunar.raid.layout.Planner;
import lunar.raid.layout.ReshapeMap;
import lunar.raid.metadata.Assembly;
import lunar.raid.metadata.Assembly.Outcome;
import lunar.raid.metadata.Candidate;
import lunar.raid.metadata.Composition;
import lunar.raid.metadata.Creation;
import lunar.raid.metadata.DegradedStart;
import lunar.raid.metadata.FaultListener;
import lunar.raid.metadata.Growth;
import lunar.raid.metadata.OpenOptions;
import lunar.raid.metadata.VolumeDevices;
import lunar.raid.metadata.VolumeMetadata;
import lunar.raid.metadata.record.Consistency;
import lunar.raid.metadata.record.MetadataLayout;
import lunar.raid.metadata.record.ReshapeRecord;
import lunar.raid.metadata.record.Superblock;
import lunar.raid.metadata.record.SuperblockReading;
import lunar.raid.metadata.superblock.SuperblockStore;
import lunar.raid.simulation.EventCounts.Event;
import lunar.raid.simulation.SimMember.PowerCut;
import org.jspecify.annotations.Nullable;

/**
 * The volume over the members of a simulation: created, opened, and opened again after a crash. With metadata its state
 * is on the members, else it is kept here, and made stable at some time after it was given.
 */
final class SimVolume {
    static final int STALL_TICKS = 12;
    private static final FailurePolicy POLICY = new FailurePolicy(2, 1000, STALL_TICKS);
    /** Requests of a recovery, so many or fewer, before the next crash. */
    private static final int MAX_CUT_AFTER = 60;

    private final SimWorld world;
    private final Rules rules;
    private final List<SimMember> members;
    private @Nullable VolumeMetadata metadata;
    private VolumeEngine volume;
    /** The stable state of the volume, and the members that it is about. */
    private VolumeState kept;
    private List<SimMember> keptMembers;
    /** Whether every block has a checksum since the last start. */
    private boolean areSumsKnown;
    /** Slots whose member may come back, with what it missed. */
    private long covered;
    /** Failures of members reported before there was a volume; null while there is one. */
    private @Nullable List<Runnable> early;

    SimVolume(SimWorld world, Rules rules) {
        this.world = world;
        this.rules = rules;
        members = world.members;
        volume = world.faults.metadata() ? created() : opened((VolumeState) null);
        connect();
        kept = volume.state();
        keptMembers = List.copyOf(members);
    }

    VolumeEngine volume() { return volume; }

    @Nullable
    VolumeMetadata metadata() { return metadata; }

    /** The stable state. */
    VolumeState kept() { return kept; }

    /** Whether the record on the members calls a slot's member up to date. */
    boolean isKeptActive(int slot) {
        return (metadata == null
                ? kept.slots().get(slot)
                : metadata.record().members().get(slot).state()) == SlotState.ACTIVE;
    }

    boolean isCovered(int slot) {
        return (covered >>> slot & 1) != 0 && hasAllButWhatTheBitmapHas(slot);
    }

    /** As its superblock tells, and the record of the volume. */
    private boolean hasAllButWhatTheBitmapHas(int slot) {
        return metadata != null
                && new SuperblockStore(members.get(slot))
                        .read() instanceof SuperblockReading.Found(Superblock found)
                && found.member().state() == SlotState.ACTIVE
                && found.volume().events() >= metadata.record().coveredSince();
    }

    boolean areSumsKnown() { return areSumsKnown; }

    /** A scrub was through. */
    void sumsAreKnown() { areSumsKnown = world.faults.checksums(); }

    void cover(int slot) { covered |= 1L << slot; }

    void uncover(int slot) { covered &= ~(1L << slot); }

    /** Whether the volume knows that a block's content was lost. */
    boolean hasNoContent(int block) {
        Layout layout = layoutOf(block);
        long stripe = block / layout.stripeBlocks();
        int unit = block % layout.stripeBlocks() / SimWorld.CHUNK_BLOCKS;
        return metadata != null && metadata.badBlockList().overlaps(layout.slot(stripe, unit),
                layout.memberBlock(stripe, unit) + block % SimWorld.CHUNK_BLOCKS, 1);
    }

    /** The layouts that it has now: one, or those of before and after, until it is stable that all has been moved. */
    List<Layout> layouts() {
        if (!volume.isReshaping()) {
            return List.of(world.layout);
        }
        var map = ReshapeMap.of(world.layout.shape(), world.layout.shape().members() - 1);
        return List.of(map.before(), map.after());
    }

    /** How blocks are being moved; null where they are not. */
    @Nullable
    ReshapeMap map() {
        ReshapeState reshaping = metadata == null ? null : metadata.reshaping();
        return reshaping == null
                ? null
                : ReshapeMap.of(world.layout.shape(), reshaping.slotsBefore());
    }

    /** Rows that have been moved, as the members tell it. */
    long movedRows() {
        ReshapeState reshaping = metadata == null ? null : metadata.reshaping();
        return reshaping == null ? 0 : reshaping.rows();
    }

    private Layout layoutOf(int block) {
        ReshapeMap map = map();
        return map == null
                ? world.layout
                : block < map.blocks(movedRows()) ? map.after() : map.before();
    }

    void tick() {
        volume.tick();
        tickMetadata();
    }

    /** Time goes on for the bitmap and the journal alone. */
    void tickMetadata() {
        if (metadata != null) {
            metadata.tick();
        }
    }

    /** A member comes into a slot that has failed. */
    void admit(int slot, boolean isNew) {
        if (metadata != null) {
            try {
                rules.fence().accept(members.get(slot));
                members.get(slot).reopen();
                metadata.admit(slot, members.get(slot), world.uuids.get(slot), isNew);
            } catch (StorageException e) {
                throw world.failure("a member was not admitted", e);
            }
        }
    }

    private RaidOptions options() {
        return RaidOptions.of(Identity.of("sim", new UUID(0, world.seed)))
                .withPolicy(POLICY)
                .withPauses(world::later)
                .withListener(new RaidListener() {
                    @Override
                    public void repaired(int slot, long block, long blocks) {
                        requireBad(slot, world.dataOffset() + (int) block, (int) blocks);
                    }
                })
                .withStripeTasks(1 + world.random.nextInt(6));
    }

    /** Nothing is repaired that was right. */
    private void requireBad(int slot, int from, int count) {
        world.require(members.get(slot).hasBeenBad(from, from + count),
                "block " + from + " of slot " + slot + " was repaired, and was right");
    }

    // --- without metadata ---

    private VolumeEngine opened(@Nullable VolumeState state) {
        var slots = new ArrayList<RaidMember>();
        for (int slot = 0; slot < members.size(); slot++) {
            SlotState is = state == null ? SlotState.ACTIVE : state.slots().get(slot);
            boolean isOther = state != null && !keptMembers.get(slot).equals(members.get(slot));
            slots.add(is == SlotState.FAILED || isOther || members.get(slot).isGone
                    ? RaidMember.missing()
                    : new RaidMember(members.get(slot), world.dataOffset(), is,
                            state == null ? 0 : state.rebuiltStripes().get(slot)));
        }
        StateKeeper keeper = (next, done) -> {
            List<SimMember> now = List.copyOf(members);
            world.later(() -> {
                kept = next;
                keptMembers = now;
                done.completed(null);
            });
        };
        return VolumeEngine.of(world.layout, rules.planner().apply(Planner.of(world.layout)), slots,
                options()
                        .withStale(state == null ? StripeSet.EMPTY : StripeSet.ALL)
                        .withKeeper(rules.keeper().apply(keeper)),
                null);
    }

    /** All at once are without power. */
    void crash() {
        for (int slot = 0; slot < members.size(); slot++) {
            boolean isGone = members.get(slot).isGone || members.get(slot).isStalled
                    || !keptMembers.get(slot).equals(members.get(slot));
            members.set(slot, members.get(slot).afterCrash());
            members.get(slot).isGone = isGone;
        }
        keptMembers = List.copyOf(members);
        volume = opened(kept);
        kept = volume.state();
    }

    // --- with metadata ---

    private VolumeEngine created() {
        Level level = world.layout.shape().level();
        var given = new ArrayList<Creation.Member>();
        for (int slot = 0; slot < members.size(); slot++) {
            given.add(new Creation.Member("sim:" + slot, world.uuids.get(slot),
                    members.get(slot)));
        }
        var wish = new Creation.Wish(world.newUuid(), "sim", 0, level,
                world.faults.bitmap() ? Creation.consistencyOf(level) : Consistency.NONE,
                world.layout.shape().chunkBytes(), 0,
                world.newUuid(), null, world.faults.checksums());
        try {
            Creation.create(wish, given, true);
            return opened(requireComposition(composition(members, -1)));
        } catch (StorageException e) {
            throw world.failure("the volume was not created", e);
        }
    }

    private Composition requireComposition(@Nullable Composition composition) {
        if (composition == null) {
            throw world.failure("the members do not make a volume");
        }
        return composition;
    }

    /** How the volume is put together of what can be reached; null where it cannot be. */
    @Nullable
    Composition composition(List<SimMember> of, int lost) {
        var candidates = new ArrayList<Candidate>();
        for (int slot = 0; slot < of.size(); slot++) {
            candidates.add(of.get(slot).isGone || slot == lost
                    ? Candidate.unreachable("sim:" + slot, "gone")
                    : Candidate.of("sim:" + slot, of.get(slot)));
        }
        return Assembly.of(candidates,
                DegradedStart.FORCED) instanceof Outcome.Assembled(Composition composition)
                        ? composition
                        : null;
    }

    private VolumeEngine opened(Composition composition) throws StorageException {
        areSumsKnown = false;
        early = new ArrayList<>();
        covered = composition.slotsOf(Composition.Use.STALE_COVERED);
        MetadataLayout layout = composition.volume().description().layout();
        var devices = new ArrayList<@Nullable BlockDevice>();
        for (int slot = 0; slot < members.size(); slot++) {
            devices.add(composition.slots().get(slot).candidate().isEmpty()
                    ? null
                    : rules.members().over(layout, slot, members.size(), members.get(slot)));
        }
        VolumeMetadata opened = VolumeMetadata.open(composition,
                new VolumeDevices(devices, List.of(), null),
                OpenOptions.DEFAULT.withPolicy(POLICY).withVerifies(world.verifies), faults());
        metadata = opened;
        world.tally.count(Event.ENTRY_REPLAYED, opened.replayed());
        ReshapeRecord reshape = composition.volume().reshape();
        world.tally.count(Event.ROWS_STAGED, reshape == null || reshape.stagedRows() == 0 ? 0 : 1);
        world.layout = Layout.of(opened.record().shape());
        var made = VolumeEngine.of(world.layout, rules.planner().apply(Planner.of(world.layout)),
                opened.raidMembers(), options(opened), reshaping(opened));
        rules.volume().accept(made);
        return made;
    }

    private @Nullable ReshapeState reshaping(VolumeMetadata opened) {
        ReshapeState right = opened.reshaping();
        return right == null
                ? null
                : new ReshapeState(right.slotsBefore(), right.rows(), right.stagingBlock(),
                        right.stagingBlocks(), rules.reshape().apply(right.keeper()));
    }

    /** The metadata, which stand still, and the volume get the member that is the last one now. */
    void grow(VolumeMetadata before) {
        int slot = members.size() - 1;
        try {
            VolumeMetadata grown = Growth.grow(before, "sim:" + slot, members.get(slot),
                    world.uuids.get(slot), faults());
            metadata = grown;
            world.layout = Layout.of(grown.record().shape());
            volume.resume(world.layout.shape(), grown.raidMembers(), options(grown),
                    reshaping(grown));
            rules.volume().accept(volume);
            kept = volume.state();
        } catch (StorageException e) {
            throw world.failure("the volume did not grow", e);
        }
    }

    private RaidOptions options(VolumeMetadata opened) {
        var keeper = new StateKeeper() {
            @Override
            public void keep(VolumeState state, Completion done) {
                opened.keep(state, why -> {
                    kept = state;
                    done.completed(why);
                });
            }

            @Override
            public void whenJoined(int slot, Runnable joined) { opened.whenJoined(slot, joined); }
        };
        return options().withGuard(rules.guard().apply(opened))
                .withKeeper(rules.keeper().apply(keeper))
                .withBadBlocks(rules.lost().apply(opened.badBlockList()))
                .withStale(rules.stale().apply(opened.stale()));
    }

    private FaultListener faults() {
        int mine = world.incarnation;
        return (slot, why) -> {
            if (mine != world.incarnation) {
                return;
            }
            if (early == null) {
                volume.fail(slot, why);
            } else {
                early.add(() -> volume.fail(slot, why));
            }
        };
    }

    private void opens(Composition how) throws StorageException {
        volume = opened(how);
        connect();
    }

    private void connect() {
        List<Runnable> told = early == null ? List.of() : early;
        early = null;
        told.forEach(Runnable::run);
    }

    /**
     * Opens the volume of what a crash has left of its members; at times the next crash comes in the middle of that.
     */
    void recover(List<SimMember> images, Composition composition, int lost) {
        Composition how = composition;
        boolean wasGone = lost >= 0 && images.get(lost).isGone;
        replaceMembers(images, lost);
        try {
            if (world.random.nextInt(4) == 0) {
                SimMember victim = images.get(world.random.nextInt(images.size()));
                victim.cutAfter = world.random.nextInt(MAX_CUT_AFTER);
                try {
                    opens(how);
                    victim.cutAfter = -1;
                    kept = volume.state();
                    return;
                } catch (PowerCut _) {
                    world.tally.count(Event.CRASH_IN_RECOVERY);
                    world.crash();
                    List<SimMember> left = members.stream().map(SimMember::afterCrash).toList();
                    int away = lost >= 0 && comesBack() ? -1 : lost;
                    if (away != lost) {
                        left.get(lost).isGone = wasGone;
                    }
                    how = requireComposition(composition(left, away));
                    replaceMembers(left, away);
                }
            }
            opens(how);
            kept = volume.state();
        } catch (StorageException e) {
            throw world.failure("the volume does not start", e);
        }
    }

    /** Whether the member that a crash took along is there after the next one; drawn apart from all else. */
    private boolean comesBack() {
        return new SplittableRandom(31 * world.seed + world.incarnation).nextBoolean();
    }

    private void replaceMembers(List<SimMember> images, int lost) {
        members.clear();
        members.addAll(images);
        for (int slot = 0; slot < members.size(); slot++) {
            members.get(slot).isGone |= slot == lost;
        }
    }
}
