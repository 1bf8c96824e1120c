package lunar.raid.simulation;

import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import lunar.block.DeviceGoneException;
import lunar.raid.SlotState;
import lunar.raid.VolumeState;
import lunar.raid.layout.Layout;
import lunar.raid.metadata.Candidate;
import lunar.raid.metadata.Composition;
import lunar.raid.metadata.VolumeMetadata;
import lunar.raid.metadata.record.MemberRecord;
import lunar.raid.metadata.record.Superblock;
import lunar.raid.metadata.record.SuperblockReading;
import lunar.raid.metadata.record.VolumeRecord;
import lunar.raid.simulation.EventCounts.Event;

/** The faults that happen, no more than the level survives. */
final class SimFaults {
    private static final int MAX_BAD_BLOCKS = 4;
    private static final int MAX_BUSY = 4;

    private final SimWorld world;
    private final SimVolume sim;
    private final List<SimMember> members;

    SimFaults(SimWorld world, SimVolume sim) {
        this.world = world;
        this.sim = sim;
        members = world.members;
    }

    // --- what is promised ---

    /** Slots whose member does not have everything, or is about to be given up. */
    long incomplete() {
        long set = 0;
        VolumeState state = sim.volume().state();
        for (int slot = 0; slot < members.size(); slot++) {
            SimMember member = members.get(slot);
            boolean isFine = state.slots().get(slot) == SlotState.ACTIVE
                    && sim.isKeptActive(slot) && !member.isGone && !member.isStalled
                    && !member.isTorn && !member.isLossy;
            set |= isFine ? 0 : 1L << slot;
        }
        return set;
    }

    /**
     * Whether everything can be had without these slots, and in spite of what is bad on the others, unless that may be
     * too much.
     */
    boolean isWithinPromise(long lost) {
        return sim.volume().state().resyncedStripes().isEmpty() && (world.faults.excess()
                ? world.layout.survives(lost)
                : isWithinPromise(members, lost));
    }

    private boolean isWithinPromise(List<SimMember> of, long lost) {
        for (Layout layout : sim.layouts()) {
            if (!isWithinPromise(layout, of, lost)) {
                return false;
            }
        }
        return true;
    }

    private boolean isWithinPromise(Layout layout, List<SimMember> of, long lost) {
        if (!layout.survives(lost)) {
            return false;
        }
        int redundancy = layout.code().isParity()
                ? layout.units() - layout.dataUnits()
                : layout.units() - 1;
        for (long stripe = 0; stripe < layout.stripes(); stripe++) {
            long unreadable = layout.units(stripe, lost);
            for (int unit = 0; unit < layout.units(); unit++) {
                SimMember member = of.get(layout.slot(stripe, unit));
                int at = (int) layout.memberBlock(stripe, unit) + world.dataOffset();
                int next = member.bad().nextSetBit(at);
                unreadable |= next >= 0 && next < at + SimWorld.CHUNK_BLOCKS ? 1L << unit : 0;
            }
            if (Long.bitCount(unreadable) > redundancy) {
                return false;
            }
        }
        return true;
    }

    // --- members ---

    /** A range of a member cannot be read any more. */
    void spoil() { spoil(false); }

    /** A range of a member changes by itself, where all checksums are known. */
    void rot() {
        if (sim.areSumsKnown()) {
            spoil(true);
        }
    }

    private void spoil(boolean isSilent) {
        SimMember member = members.get(world.random.nextInt(members.size()));
        int blocks = (int) member.blockCount();
        int from = world.dataOffset() + world.random.nextInt(blocks - world.dataOffset());
        int end = from + 1 + world.random.nextInt(Math.min(MAX_BAD_BLOCKS, blocks - from));
        // First it is tried on paper.
        var before = (BitSet) member.bad().clone();
        member.bad().set(from, end);
        boolean isGood = isWithinPromise(incomplete());
        member.bad().clear();
        member.bad().or(before);
        if (isGood && isSilent) {
            world.log.append('o');
            world.tally.count(Event.ROTTEN_RANGE);
            world.losses++;
            member.rot(from, end);
        } else if (isGood) {
            world.log.append('b');
            world.tally.count(Event.BAD_RANGE);
            world.losses++;
            member.spoil(from, end);
        }
    }

    /** A member refuses so many requests in a row as no healthy one was let to before it was failed. */
    void makeBusy() {
        world.log.append('y');
        members.get(world.random.nextInt(members.size()))
                .makeBusy(1 + world.random.nextInt(MAX_BUSY));
    }

    /** A member is gone, does not answer, is failed by the operator, or tears a write. */
    void lose() {
        int slot = world.random.nextInt(members.size());
        if (!isWithinPromise(incomplete() | 1L << slot)) {
            return;
        }
        SimMember member = members.get(slot);
        VolumeMetadata metadata = sim.metadata();
        world.losses++;
        switch (world.random.nextInt(4)) {
            case 0 -> {
                world.log.append('g');
                world.tally.count(Event.MEMBER_GONE);
                member.isGone = true;
            }
            case 1 -> {
                world.log.append('s');
                world.tally.count(Event.MEMBER_STALLED);
                member.isStalled = true;
            }
            case 2 -> {
                world.log.append('f');
                world.tally.count(Event.MEMBER_FAILED_BY_HAND);
                if (metadata != null && metadata.bitmap() != null
                        && sim.volume().state().slots().get(slot) == SlotState.ACTIVE) {
                    sim.cover(slot);
                }
                sim.volume().fail(slot, new DeviceGoneException("failed by the operator"));
            }
            default -> world.log.append(member.tear() ? 't' : '-');
        }
    }

    /** A member loses its volatile cache, and comes back as if nothing had been. */
    void loseCache() {
        int slot = world.random.nextInt(members.size());
        if (!isWithinPromise(incomplete() | 1L << slot)) {
            return;
        }
        boolean isActive = sim.volume().state().slots().get(slot) == SlotState.ACTIVE
                && sim.isKeptActive(slot);
        VolumeMetadata metadata = sim.metadata();
        if (isActive && members.get(slot).loseCache()) {
            world.log.append('v');
            world.tally.count(Event.CACHE_LOST);
            world.losses++;
            if (metadata != null && metadata.bitmap() != null) {
                sim.cover(slot);
            }
        }
    }

    /**
     * A member is given up whose session is cut off, so that writes under way may have their effect later, unless they
     * are fenced.
     */
    void cutOff() {
        int slot = world.random.nextInt(members.size());
        VolumeMetadata metadata = sim.metadata();
        if (!isWithinPromise(incomplete() | 1L << slot)
                || sim.volume().state().slots().get(slot) != SlotState.ACTIVE) {
            return;
        }
        world.log.append('l');
        world.losses++;
        members.get(slot).cutOff();
        if (metadata != null && metadata.bitmap() != null) {
            sim.cover(slot);
        }
        sim.volume().fail(slot, new DeviceGoneException("cut off"));
    }

    /** A write of a member that was cut off arrives. */
    void landLate() {
        SimMember member = members.get(world.random.nextInt(members.size()));
        if (member.landLate()) {
            world.tally.count(Event.LANDED_LATE);
        }
    }

    /** At the end: as many members as the level survives. */
    void loseAsMuchAsCanBe(Runnable drain) {
        for (int slot : world.random.ints(20, 0, members.size()).toArray()) {
            if (isWithinPromise(incomplete() | 1L << slot)) {
                sim.volume().fail(slot, new DeviceGoneException("at the end"));
                drain.run();
            }
        }
    }

    /**
     * Whether more may be lost now than the level survives, and then come back. Not while a member has lost its cache
     * and nothing has found out: if the others go first, the volume goes on with what that member has left, and a flush
     * reports the loss.
     */
    boolean mayCollapse() {
        return sim.metadata() != null && world.layout.shape().level().isRedundant()
                && sim.volume().state().resyncedStripes().isEmpty()
                && members.stream().allMatch(member -> member.bad().isEmpty() && !member.isLossy);
    }

    /**
     * Returns the members that do not come back after all were lost: those that the newest record on any of them calls
     * FAILED. Such a member may have a state so old that it has no member in common with what the volume is now, which
     * is refused for the operator to decide (docs/raid-format.md): it could have been in use by itself. A member that
     * has just failed, which no crash would find yet, comes back.
     */
    List<SimMember> givenUp() {
        return inNewestRecord(SlotState.FAILED,
                members.stream().filter(member -> !member.isGone).toList());
    }

    /** Returns the members that have a state in the newest record on these. */
    private List<SimMember> inNewestRecord(SlotState state, List<SimMember> of) {
        List<MemberRecord> table = of.stream().map(SimMember::afterCrash)
                .map(image -> Candidate.of("sim", image).reading())
                .flatMap(reading -> reading instanceof SuperblockReading.Found(Superblock found)
                        ? Stream.of(found.volume())
                        : Stream.empty())
                .max(Comparator.comparingLong(VolumeRecord::events))
                .map(VolumeRecord::members).orElseThrow();
        return IntStream.range(0, members.size())
                .filter(slot -> table.get(slot).state() == state)
                .mapToObj(members::get).toList();
    }

    /** Another member is gone, or does not answer any more. */
    void loseOneMore() {
        List<SimMember> there = members.stream()
                .filter(member -> !member.isGone && !member.isStalled).toList();
        if (!there.isEmpty()) {
            SimMember member = there.get(world.random.nextInt(there.size()));
            boolean isStalled = world.random.nextInt(3) == 0;
            world.losses++;
            member.isStalled = isStalled;
            member.isGone = !isStalled;
        }
    }

    /**
     * Brings all members back after a power cut, but for those that were given up and have not been rebuilt since. The
     * volume may need a rebuilt member, as others may have failed after the rebuild. If the rebuild has not ended, the
     * member may still have the state for which it was given up.
     */
    void bringBack(List<SimMember> givenUp, Runnable forget) {
        for (SimMember member : members) { // their images are of members that are there
            member.isGone = false;
            member.isStalled = false;
        }
        List<SimMember> active = inNewestRecord(SlotState.ACTIVE, members);
        for (SimMember member : members) {
            member.isGone = givenUp.contains(member) && !active.contains(member);
        }
        List<SimMember> images = members.stream().map(SimMember::afterCrash).toList();
        Composition composition = sim.composition(images, -1);
        if (composition == null) {
            throw world.failure("its members came back, and do not make a volume");
        }
        forget.run();
        sim.recover(images, composition, -1);
        world.tally.count(Event.COLLAPSE);
    }

    // --- crashes ---

    /**
     * Everything is without power at once, if nothing is lost by that which the level does not promise to survive.
     *
     * @param forget called when it has happened, before the volume is opened again
     * @return whether it has happened
     */
    boolean crash(Runnable forget) {
        boolean isComparing = sim.volume().state().resyncedStripes().isPresent();
        if (isComparing && !sim.volume().isReshaping()) {
            return false;
        }
        boolean isDegraded = incomplete() != 0;
        boolean happens = sim.metadata() == null ? crashPlain(forget) : crashKnowing(forget);
        if (happens) {
            world.tally.count(Event.CRASH);
            world.tally.count(Event.CRASH_DEGRADED, isDegraded ? 1 : 0);
            world.tally.count(Event.RESYNC_CRASHED, isComparing ? 1 : 0);
        }
        return happens;
    }

    /** Without a journal a stripe that is half written and half lost is lost: so nothing may be lost before. */
    private boolean crashPlain(Runnable forget) {
        if (world.layout.code().isParity() && (incomplete() != 0
                || members.stream().anyMatch(member -> !member.bad().isEmpty()))) {
            return false;
        }
        if (!isWithinPromise(incomplete())) {
            return false;
        }
        forget.run();
        sim.crash();
        return true;
    }

    /** At times a member is lost with it, but for while copies are compared: the first one counts then. */
    private boolean crashKnowing(Runnable forget) {
        List<SimMember> images = members.stream().map(SimMember::afterCrash).toList();
        int lost = world.faults.losses() && sim.volume().state().resyncedStripes().isEmpty()
                && world.random.nextInt(3) == 0
                        ? world.random.nextInt(images.size())
                        : -1;
        Composition composition = sim.composition(images, lost);
        if (composition == null) {
            return false;
        }
        // A member that was given up, or came back, may not know: the others tell, and if they are lost it passes for
        // good.
        long missing = Layout.all(images.size()) & ~composition.inSync();
        for (int slot = 0; slot < images.size(); slot++) {
            missing |= sim.kept().slots().get(slot) == SlotState.ACTIVE ? 0 : 1L << slot;
        }
        // Where a write was under way checksums are not known afterwards, nor what changed by itself.
        if (members.stream().anyMatch(SimMember::isRotten)) {
            return false;
        }
        boolean isUnreadable = world.layout.code().isParity()
                && images.stream().anyMatch(member -> !member.bad().isEmpty());
        // A resync whose end is not stable begins again, and until then no parity makes up for an unreadable block.
        if (isUnreadable && (!world.faults.unreadable()
                || composition.resync() == Composition.Resync.WHOLE)) {
            return false;
        }
        if (!isWithinPromise(images, missing)) {
            return false;
        }
        world.tally.count(Event.CRASH_UNREADABLE, isUnreadable ? 1 : 0);
        world.tally.count(Event.CRASH_WITH_LOSS, lost >= 0 ? 1 : 0);
        forget.run();
        sim.recover(images, composition, lost);
        return true;
    }
}
