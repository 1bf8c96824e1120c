package lunar.raid.engine.member;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.LongPredicate;
import lunar.raid.RaidMember;
import lunar.raid.SlotState;
import lunar.raid.StripeSet;
import lunar.raid.VolumeState;
import lunar.raid.layout.Code;
import lunar.raid.layout.Layout;
import org.jspecify.annotations.Nullable;

/**
 * The members in the slots, and their states. Immutable, except for the progress of scans: it advances under the locks
 * of the stripes concerned, so the holder of a stripe's lock sees one answer for that stripe.
 */
public final class Slots {
    private final List<@Nullable Member> members;
    private final List<SlotState> states;
    private final List<@Nullable Progress> rebuilds;
    private final @Nullable Progress resync;
    private final HalfWrittenStripes halfWritten;
    private final boolean serving;
    private final long failed;
    private final long rebuilding;

    private Slots(List<@Nullable Member> members, List<SlotState> states,
            List<@Nullable Progress> rebuilds, @Nullable Progress resync,
            HalfWrittenStripes halfWritten, boolean serving) {
        this.members = Collections.unmodifiableList(members);
        this.states = List.copyOf(states);
        this.rebuilds = Collections.unmodifiableList(rebuilds);
        this.resync = resync;
        this.halfWritten = halfWritten;
        this.serving = serving;
        failed = slotsThatAre(SlotState.FAILED);
        rebuilding = slotsThatAre(SlotState.REBUILDING);
    }

    /** @param promise which slots, as bits, may be lost */
    public static Slots of(List<RaidMember> given, StripeSet stale, Layout layout,
            LongPredicate promise) {
        var members = new ArrayList<@Nullable Member>();
        var states = new ArrayList<SlotState>();
        var rebuilds = new ArrayList<@Nullable Progress>();
        for (int slot = 0; slot < given.size(); slot++) {
            RaidMember member = given.get(slot);
            var device = member.device();
            members.add(device == null ? null : new Member(slot, device, member.dataOffset()));
            states.add(member.state());
            rebuilds.add(member.state() == SlotState.REBUILDING
                    ? new Progress(StripeSet.ALL, member.rebuiltStripes())
                    : null);
        }
        boolean isStale = layout.shape().level().isRedundant()
                && stale.next(0) != StripeSet.NONE;
        var slots = new Slots(members, states, rebuilds,
                isStale ? new Progress(stale, 0) : null, new HalfWrittenStripes(), true);
        return promise.test(slots.incomplete()) ? slots : slots.notServing();
    }

    /** Carries over the state of the members that were in these slots before the volume has grown. */
    public void goOnFrom(Slots before) {
        for (int slot = 0; slot < Math.min(count(), before.count()); slot++) {
            Member member = member(slot);
            Member same = before.member(slot);
            if (member != null && same != null) {
                member.goOnFrom(same);
            }
        }
    }

    private long slotsThatAre(SlotState state) {
        long set = 0;
        for (int slot = 0; slot < states.size(); slot++) {
            set |= states.get(slot) == state ? 1L << slot : 0;
        }
        return set;
    }

    // --- state ---

    public int count() { return states.size(); }

    public @Nullable Member member(int slot) { return members.get(slot); }

    public SlotState state(int slot) { return states.get(slot); }

    public @Nullable Progress rebuild(int slot) { return rebuilds.get(slot); }

    public @Nullable Progress resync() { return resync; }

    public boolean isServing() { return serving; }

    /** Returns the slots that do not have everything. */
    long incomplete() {
        return failed | rebuilding;
    }

    /** Whether every unit of every stripe is available and consistent. */
    public boolean isWhole() {
        return (failed | rebuilding) == 0 && resync == null && halfWritten.isEmpty();
    }

    /** Returns the slots that do not have their unit of a stripe. */
    public long lost(long stripe) {
        long lost = failed;
        if (rebuilding != 0) {
            for (int slot = 0; slot < rebuilds.size(); slot++) {
                Progress rebuild = rebuilds.get(slot);
                lost |= rebuild != null && rebuild.isOpen(stripe) ? 1L << slot : 0;
            }
        }
        return lost;
    }

    /** Whether the redundancy of a stripe may be wrong. */
    public boolean isStale(long stripe) {
        return (resync != null && resync.isOpen(stripe)) || halfWritten.contains(stripe);
    }

    /** Whether the redundancy of a stripe is known to be wrong. */
    public boolean isHalfWritten(long stripe) {
        return halfWritten.isWrong(stripe);
    }

    /** Whether so many stripes wait for a resync that a write to another one must not begin. */
    public boolean refusesWrite(long stripe) {
        return halfWritten.isFull(stripe);
    }

    /** Returns the stripes that no resync has made consistent yet. */
    public HalfWrittenStripes halfWritten() {
        return halfWritten;
    }

    /**
     * Returns the units of a stripe that must not be read: lost units, and redundancy that may be old. Of copies that
     * may differ only the first available one is read, so that all reads agree; of parities that may be old only as
     * many are read as data units are lost, since they are all that is left of these, and parity that is known to be
     * wrong never is.
     */
    public long unreadable(Layout layout, long stripe) {
        long lost = layout.units(stripe, lost(stripe));
        if (!isStale(stripe)) {
            return lost;
        }
        long all = Layout.all(layout.units());
        if (layout.code() == Code.COPIES) {
            return all & ~Long.lowestOneBit(all & ~lost);
        }
        long data = Layout.all(layout.dataUnits());
        return isHalfWritten(stripe)
                ? lost | (all & ~data)
                : lost | spare(all & ~data & ~lost, Long.bitCount(lost & data));
    }

    /** Whether copies may differ since a read of one was planned, and it is not the one that later reads use. */
    public boolean isUncertain(Layout layout, long stripe, int unit) {
        return layout.code() == Code.COPIES && !isWhole()
                && (unreadable(layout, stripe) >>> unit & 1) != 0;
    }

    /** Returns these units, as bits, without the first few. */
    public static long spare(long units, int few) {
        long rest = units;
        for (int i = 0; i < few; i++) {
            rest &= rest - 1;
        }
        return rest;
    }

    /** Whether all units of a stripe are lost except that of a slot. */
    public boolean isLastUnit(Layout layout, long stripe, int slot) {
        return Long.bitCount(layout.units(stripe, lost(stripe) | 1L << slot)) == layout.units();
    }

    /** Returns the readable copy on the member with the fewest requests in flight; 0 if units are not copies. */
    public int idlest(Layout layout, long stripe, long unreadable) {
        int best = 0;
        int least = Integer.MAX_VALUE;
        for (int unit = 0; layout.code() == Code.COPIES && unit < layout.units(); unit++) {
            Member member = members.get(layout.slot(stripe, unit));
            if ((unreadable >>> unit & 1) == 0 && member != null && member.inFlight() < least) {
                least = member.inFlight();
                best = unit;
            }
        }
        return best;
    }

    /** Whether a member is in its slot, and has not failed. */
    public boolean isUsed(Member member) {
        return holds(member) && states.get(member.slot) != SlotState.FAILED;
    }

    public boolean holds(Member member) { return member.equals(members.get(member.slot)); }

    public VolumeState view() {
        var rebuilt = new ArrayList<Long>();
        for (Progress rebuild : rebuilds) {
            rebuilt.add(rebuild == null ? 0 : rebuild.stableCheckpoint());
        }
        OptionalLong resynced = resync != null
                ? OptionalLong.of(resync.stableCheckpoint())
                : halfWritten.isEmpty() ? OptionalLong.empty() : OptionalLong.of(0);
        return new VolumeState(states, rebuilt, resynced, serving);
    }

    // --- changes ---

    public Slots with(int slot, @Nullable Member member, SlotState state,
            @Nullable Progress rebuild) {
        var newMembers = new ArrayList<@Nullable Member>(members);
        var newStates = new ArrayList<>(states);
        var newRebuilds = new ArrayList<@Nullable Progress>(rebuilds);
        newMembers.set(slot, member);
        newStates.set(slot, state);
        newRebuilds.set(slot, rebuild);
        return new Slots(newMembers, newStates, newRebuilds, resync, halfWritten, serving);
    }

    public Slots withState(int slot, SlotState state) {
        return with(slot, members.get(slot), state, null);
    }

    /** Returns the slots with a resync due; unchanged if one is due already. */
    public Slots resyncing(Progress next) {
        return resync == null ? withResync(next) : this;
    }

    /** Returns the slots after a resync with this progress; unchanged if other stripes have become stale meanwhile. */
    public Slots resynced(Progress progress) {
        return progress.equals(resync) ? withResync(null) : this;
    }

    /**
     * Returns the slots with more stripes that may have wrong redundancy. Stripes that the resync under way has
     * restored, but not flushed, are among them again: members that have lost their caches may have them as before.
     */
    public Slots stale(StripeSet stripes) {
        Progress before = resync;
        long stable = before == null ? 0 : before.stableCheckpoint();
        StripeSet all = before == null
                ? stripes
                : from -> Math.min(stripes.next(from), before.next(Math.max(from, stable)));
        return withResync(new Progress(all, 0));
    }

    private Slots withResync(@Nullable Progress next) {
        return new Slots(members, states, rebuilds, next, halfWritten, serving);
    }

    Slots notServing() { return new Slots(members, states, rebuilds, resync, halfWritten, false); }
}
