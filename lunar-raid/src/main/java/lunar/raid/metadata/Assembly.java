package lunar.raid.metadata;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import lunar.block.Size;
import lunar.raid.SlotState;
import lunar.raid.layout.Layout;
import lunar.raid.metadata.Composition.LeftOut;
import lunar.raid.metadata.Composition.Resync;
import lunar.raid.metadata.Composition.Slot;
import lunar.raid.metadata.Composition.Use;
import lunar.raid.metadata.record.Consistency;
import lunar.raid.metadata.record.MemberRecord;
import lunar.raid.metadata.record.Superblock;
import lunar.raid.metadata.record.SuperblockReading;
import lunar.raid.metadata.record.VolumeDescription;
import lunar.raid.metadata.record.VolumeRecord;

/**
 * Decides whether and how devices make up a volume, from their superblocks alone, in whatever order they come. The
 * newest record of the volume counts. Does no I/O.
 *
 * <p><b>Missing members.</b> A member does not learn that it was given up. So where members are absent that the newest
 * record calls ACTIVE, these may have been used since without the others, if they suffice for that; and if they do not,
 * the volume starts degraded. Either is for the operator to decide: {@link DegradedStart}. A volume that was degraded
 * already starts by itself with the members that it had then.
 *
 * <p><b>Members that are up to date.</b> Each change of the record is stable on every member that it calls ACTIVE
 * before the next change is begun ({@link lunar.raid.metadata.superblock.Superblocks} ensures that). So when everything
 * stops in the middle of a change, members that are ACTIVE in the newest record are at most one event behind it; a
 * member further behind has missed something.
 */
public final class Assembly {
    private final List<Candidate> candidates;
    private final List<LeftOut> leftOut = new ArrayList<>();
    /** Superblocks by index of their candidate. */
    private final Map<Integer, Superblock> found = new LinkedHashMap<>();
    private final DegradedStart degradedStart;

    private Assembly(List<Candidate> candidates, DegradedStart degradedStart) {
        this.candidates = List.copyOf(candidates);
        this.degradedStart = degradedStart;
    }

    /** The result of an assembly. */
    public sealed interface Outcome {
        /** The volume can be put together. */
        record Assembled(Composition composition) implements Outcome {}

        /**
         * The volume cannot be put together.
         *
         * @param why one line for the operator, which says what to do
         */
        record Refused(String why) implements Outcome {}
    }

    /** Ends the decision. */
    private static final class RefusedException extends Exception {
        RefusedException(String why) { super(why); }
    }

    /** Decides; no member may be away that had all data. */
    public static Outcome of(List<Candidate> candidates) {
        return of(candidates, DegradedStart.REFUSED);
    }

    /** Decides. */
    public static Outcome of(List<Candidate> candidates, DegradedStart degradedStart) {
        try {
            return new Outcome.Assembled(new Assembly(candidates, degradedStart).decide());
        } catch (RefusedException e) {
            return new Outcome.Refused(String.valueOf(e.getMessage()));
        }
    }

    private Composition decide() throws RefusedException {
        sort();
        refuseForeign();
        refuseDoubled();
        int newest = newest();
        VolumeRecord volume = superblock(newest).volume();
        refuseDisagreement(newest);
        var slots = new ArrayList<Slot>();
        for (int slot = 0; slot < volume.description().slots(); slot++) {
            slots.add(slot(volume, slot));
        }
        var spares = new ArrayList<>(
                Collections.nCopies(volume.spares().size(), OptionalInt.empty()));
        for (int index : found.keySet()) {
            OptionalInt entry = volume.indexOf(superblock(index).memberUuid());
            if (entry.isEmpty()) {
                leftOut.add(new LeftOut(index, "it was taken out of volume "
                        + volume.description().title()));
            } else if (entry.getAsInt() >= volume.description().slots()
                    && fits(index, volume, entry.getAsInt())) {
                spares.set(entry.getAsInt() - volume.description().slots(),
                        OptionalInt.of(index));
            }
        }
        var composition = new Composition(volume, slots, spares, leftOut, resync(volume));
        refuseTooFew(composition);
        refuseWithoutConsent(composition);
        return composition;
    }

    /** A spare that does not fit any more is no reason to refuse the volume. */
    private boolean fits(int index, VolumeRecord volume, int entry) {
        try {
            refuseChangedSize(index, volume, entry);
            return true;
        } catch (RefusedException e) {
            leftOut.add(new LeftOut(index, String.valueOf(e.getMessage())));
            return false;
        }
    }

    private Superblock superblock(int index) {
        Superblock superblock = found.get(index);
        if (superblock == null) {
            throw new IllegalStateException("candidate " + index + " has no superblock");
        }
        return superblock;
    }

    private String uri(int index) { return candidates.get(index).uri(); }

    /** A device without a superblock may be a member that was wiped: that is a loss, which the volume may outlive. */
    private void sort() throws RefusedException {
        for (int i = 0; i < candidates.size(); i++) {
            switch (candidates.get(i).reading()) {
                case SuperblockReading.Found(Superblock superblock) -> found.put(i, superblock);
                case SuperblockReading.Blank() ->
                    leftOut.add(new LeftOut(i, "there is no superblock on it"));
                case SuperblockReading.Damaged(String why) ->
                    leftOut.add(new LeftOut(i, "its superblock is damaged: " + why));
                case SuperblockReading.Unreadable(String why) ->
                    leftOut.add(new LeftOut(i, "it cannot be read: " + why));
                case SuperblockReading.Unknown(String what) ->
                    throw new RefusedException(uri(i) + " has a superblock of " + what
                            + ", which this program does not know: use a newer one");
            }
        }
        if (found.isEmpty()) {
            throw new RefusedException("no member of a volume among " + candidates.size()
                    + " devices" + reasons());
        }
    }

    /** The volume is the one that most of them belong to. */
    private void refuseForeign() throws RefusedException {
        var members = new LinkedHashMap<UUID, List<Integer>>();
        found.forEach((index, superblock) -> members
                .computeIfAbsent(superblock.volume().description().uuid(), _ -> new ArrayList<>())
                .add(index));
        if (members.size() > 1) {
            List<Integer> most = members.values().stream().max(Comparator.comparingInt(List::size))
                    .orElseThrow();
            for (List<Integer> others : members.values()) {
                if (!others.equals(most)) {
                    throw new RefusedException(uri(others.getFirst()) + " belongs to volume "
                            + title(others.getFirst()) + ", and " + uri(most.getFirst())
                            + " to volume " + title(most.getFirst())
                            + ": name the members of one volume");
                }
            }
        }
    }

    private String title(int index) { return superblock(index).volume().description().title(); }

    private void refuseDoubled() throws RefusedException {
        var seen = new HashMap<UUID, Integer>();
        for (var entry : found.entrySet()) {
            Integer other = seen.put(entry.getValue().memberUuid(), entry.getKey());
            if (other != null) {
                throw new RefusedException(uri(other) + " and " + uri(entry.getKey())
                        + " are both member " + entry.getValue().memberUuid() + " of volume "
                        + title(other) + ": the same device by two ways, or a copy; name one");
            }
        }
    }

    /** Chooses the newest; among candidates with the same events, a spare only if there is no other. */
    private int newest() {
        return found.entrySet().stream()
                .max(Comparator.<Map.Entry<Integer, Superblock>>comparingLong(
                        one -> one.getValue().volume().events())
                        .thenComparing(one -> !isSpare(one.getValue())))
                .orElseThrow()
                .getKey();
    }

    private static boolean isSpare(Superblock superblock) {
        return superblock.member().state() == SlotState.SPARE;
    }

    /** Whether one part of the members went on without the other, and the other without the one. */
    private void refuseDisagreement(int newest) throws RefusedException {
        VolumeRecord volume = superblock(newest).volume();
        for (var entry : found.entrySet()) {
            if (isSpare(entry.getValue())) { // it has no data, and may have missed anything
                continue;
            }
            VolumeRecord other = entry.getValue().volume();
            boolean changed = !other.description().equals(volume.description());
            if (other.events() == volume.events() && !other.equals(volume)) {
                throw apart(newest, entry.getKey());
            }
            if (other.events() < volume.events() && !changed
                    && wentApart(volume, entry.getValue())) {
                throw apart(newest, entry.getKey());
            }
        }
    }

    private RefusedException apart(int one, int other) {
        return new RefusedException(uri(one) + " and " + uri(other) + " of volume " + title(one)
                + " were in use without each other and tell different stories: name only those"
                + " whose data you want");
    }

    /**
     * Whether a member with all data was in use without those that have all data by the newer record, and these without
     * it. Their data are not versions of the same then, however many events either side has counted since.
     *
     * @param older the member's superblock, with fewer events
     */
    static boolean wentApart(VolumeRecord newer, Superblock older) {
        return older.member().state() == SlotState.ACTIVE && !hasSeen(newer, older)
                && !haveCommonMember(newer, older);
    }

    /**
     * Whether the members of the newer record had this superblock's member among them until an event that is later than
     * all of the superblock's. Had it been in use without them since, it would have counted that event too.
     */
    private static boolean hasSeen(VolumeRecord newer, Superblock older) {
        return failedSince(newer, older) > older.volume().events();
    }

    /** Returns the event since which the newer record calls a superblock's member failed; 0 if that is not known. */
    private static long failedSince(VolumeRecord newer, Superblock older) {
        OptionalInt index = newer.indexOf(older.memberUuid());
        return index.isEmpty() ? 0 : newer.members().get(index.getAsInt()).failedSince();
    }

    /**
     * An older record that the newer one grew out of has members in common with it, but for its own that were lost. One
     * that was being rebuilt then, and has all data now, got them from members of the older record, unless it left
     * these before it heard of that: but then the superblock's member has counted events since it is failed.
     */
    private static boolean haveCommonMember(VolumeRecord newer, Superblock older) {
        boolean countsRebuilding = failedSince(newer, older) == 0;
        for (MemberRecord now : newer.members()) {
            OptionalInt index = now.state() == SlotState.ACTIVE
                    ? older.volume().indexOf(now.uuid())
                    : OptionalInt.empty();
            if (index.isPresent()) {
                SlotState then = older.volume().members().get(index.getAsInt()).state();
                if (then == SlotState.ACTIVE
                        || (countsRebuilding && then == SlotState.REBUILDING)) {
                    return true;
                }
            }
        }
        return false;
    }

    /**
     * Whether the intent bitmap has all that a stale member has missed: it had all data when the coverage began, and
     * has counted no event since the newer record calls it failed.
     */
    static boolean isCovered(VolumeRecord newer, Superblock older) {
        return newer.description().consistency() != Consistency.NONE
                && older.member().state() == SlotState.ACTIVE
                && older.volume().events() >= newer.coveredSince()
                && (failedSince(newer, older) == 0 || hasSeen(newer, older));
    }

    private Slot slot(VolumeRecord volume, int slot) throws RefusedException {
        MemberRecord member = volume.members().get(slot);
        Optional<Integer> candidate = found.keySet().stream()
                .filter(index -> superblock(index).memberUuid().equals(member.uuid())).findFirst();
        if (candidate.isEmpty()) {
            return new Slot(Use.MISSING, OptionalInt.empty(),
                    member.uuid().equals(MemberRecord.NIL_UUID)
                            ? "it has no member"
                            : "its member " + member.uuid() + " is missing");
        }
        int index = candidate.get();
        refuseChangedSize(index, volume, slot);
        long events = superblock(index).volume().events();
        boolean current = events >= volume.events() - 1;
        return switch (member.state()) {
            case ACTIVE -> current
                    ? new Slot(Use.IN_SYNC, OptionalInt.of(index), "")
                    : stale(volume, index, "it has missed " + (volume.events() - events)
                            + " changes of the volume");
            case REBUILDING -> current
                    ? new Slot(Use.REBUILDING, OptionalInt.of(index), "it is being rebuilt")
                    : new Slot(Use.STALE, OptionalInt.of(index),
                            "it was being rebuilt and has missed changes");
            case FAILED -> stale(volume, index,
                    member.isOut()
                            ? "it was taken out by hand, or for medium errors"
                            : "it had failed");
            case SPARE -> throw new IllegalStateException("a spare in slot " + slot);
        };
    }

    private Slot stale(VolumeRecord volume, int index, String why) {
        return isCovered(volume, superblock(index))
                ? new Slot(Use.STALE_COVERED, OptionalInt.of(index),
                        why + "; the bitmap has what it missed")
                : new Slot(Use.STALE, OptionalInt.of(index), why);
    }

    private void refuseChangedSize(int index, VolumeRecord volume, int entry)
            throws RefusedException {
        Candidate candidate = candidates.get(index);
        VolumeDescription what = volume.description();
        if (candidate.blockSize() != what.blockSize()) {
            throw new RefusedException(candidate.uri() + " has blocks of " + candidate.blockSize()
                    + " bytes, and volume " + what.title() + " was made with blocks of "
                    + what.blockSize() + ": open it as it was then");
        }
        long needed = what.layout().dataBytes()
                + volume.members().get(entry).dataBlocks() * what.blockSize();
        if (candidate.sizeBytes() < needed) {
            throw new RefusedException(candidate.uri() + " has become smaller: it has "
                    + Size.format(candidate.sizeBytes()) + ", and volume " + what.title()
                    + " uses " + Size.format(needed)
                    + " of it: give it its size back, or leave it out");
        }
    }

    private static Resync resync(VolumeRecord volume) {
        if (!volume.description().level().isRedundant()) {
            return Resync.NONE;
        }
        if (volume.resyncNext() != VolumeRecord.IN_SYNC) {
            return Resync.WHOLE;
        }
        if (volume.clean()) {
            return Resync.NONE;
        }
        return volume.description().consistency() == Consistency.NONE
                ? Resync.WHOLE
                : Resync.DIRTY;
    }

    private void refuseTooFew(Composition composition) throws RefusedException {
        VolumeRecord volume = composition.volume();
        int slots = volume.description().slots();
        long lost = Layout.all(slots) & ~composition.inSync();
        if (!volume.survives(lost)) {
            var why = new StringBuilder("volume ").append(volume.description().title())
                    .append(" cannot be had from ").append(Long.bitCount(composition.inSync()))
                    .append(" of its ").append(slots).append(" members (")
                    .append(volume.description().level()).append(needs(volume)).append(")");
            String separator = ": ";
            for (int slot = 0; slot < slots; slot++) {
                Slot one = composition.slots().get(slot);
                if (one.use() != Use.IN_SYNC) {
                    why.append(separator).append("slot ").append(slot);
                    if (one.candidate().isPresent()) {
                        why.append(" (").append(uri(one.candidate().getAsInt())).append(')');
                    }
                    why.append(": ").append(one.why());
                    separator = "; ";
                }
            }
            throw new RefusedException(why.append(reasons()).toString());
        }
    }

    private void refuseWithoutConsent(Composition composition) throws RefusedException {
        VolumeRecord volume = composition.volume();
        long away = composition.away();
        if (away == 0) {
            return;
        }
        long others = Layout.all(volume.description().slots()) & ~away;
        boolean mayBeOld = volume.mayHaveDoneWithout(others);
        if (degradedStart.includes(mayBeOld ? DegradedStart.FORCED : DegradedStart.ALLOWED)) {
            return;
        }
        var missing = new StringBuilder();
        String separator = "";
        for (long left = away; left != 0; left &= left - 1) {
            int slot = Long.numberOfTrailingZeros(left);
            missing.append(separator).append("slot ").append(slot).append(": ")
                    .append(composition.slots().get(slot).why());
            separator = "; ";
        }
        throw new RefusedException("volume " + volume.description().title()
                + (mayBeOld
                        ? " may have been used without the members that are here, whose data would"
                                + " be old then: connect the others, or force it if these are lost"
                                + " for good ("
                        : " would start degraded: connect all members, or let it start without (")
                + missing + ")" + reasons());
    }

    private static String needs(VolumeRecord volume) {
        int slots = volume.description().slots();
        return switch (volume.description().level()) {
            case LINEAR, RAID0 -> " needs all";
            case RAID1 -> " needs 1";
            case RAID5 -> " needs " + (slots - 1);
            case RAID6 -> " needs " + (slots - 2);
            case RAID10 -> volume.reshape() == null
                    ? " needs one of each pair"
                    : ", which is being reshaped, needs one of each pair of before and of after";
        };
    }

    /** Returns why candidates are not used, for the end of a message. */
    private String reasons() {
        var reasons = new StringBuilder();
        for (LeftOut one : leftOut) {
            reasons.append("; ").append(uri(one.candidate())).append(": ").append(one.why());
        }
        return reasons.toString();
    }
}
