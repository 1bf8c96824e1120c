package lunar.raid.metadata.record;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.function.IntFunction;
import lunar.block.BlockDevice;
import lunar.block.InvalidRequestException;
import lunar.raid.RaidMember;
import lunar.raid.SlotState;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Shape;
import lunar.raid.metadata.page.Page;
import org.jspecify.annotations.Nullable;

/**
 * A volume as its superblocks tell it, which all members have alike. Immutable.
 *
 * @param description what it is
 * @param events how often this record was changed; a member with fewer has missed something
 * @param clean whether it was stopped in order
 * @param resyncNext the stripe where the comparison of all goes on; {@link #IN_SYNC} where none is due
 * @param coveredSince the intent bitmap has all that was written since the record had so many events
 * @param members the slots' members, then spares
 * @param reshape how far it has been reshaped; null where it is not being reshaped
 */
public record VolumeRecord(VolumeDescription description, long events, boolean clean,
        long resyncNext, long coveredSince, List<MemberRecord> members,
        @Nullable ReshapeRecord reshape) {
    /** No comparison is due. */
    public static final long IN_SYNC = -1;

    public VolumeRecord {
        members = List.copyOf(members);
        if (events <= 0 || events >= Page.MAX_GENERATION || coveredSince < 0
                || coveredSince > events || resyncNext < IN_SYNC) {
            throw new IllegalArgumentException("impossible: events " + events + ", covered since "
                    + coveredSince + ", next stripe " + resyncNext);
        }
        if (members.size() < description.slots() || members.size() > Superblock.MAX_MEMBERS) {
            throw new IllegalArgumentException(members.size() + " entries in the table of a volume "
                    + "of " + description.slots() + " members");
        }
        var seen = new HashSet<UUID>();
        for (int i = 0; i < members.size(); i++) {
            MemberRecord member = members.get(i);
            if ((member.state() == SlotState.SPARE) != i >= description.slots()) {
                throw new IllegalArgumentException(
                        "entry " + i + " of the table is " + member.state());
            }
            if (!member.uuid().equals(MemberRecord.NIL_UUID) && !seen.add(member.uuid())) {
                throw new IllegalArgumentException(
                        "member " + member.uuid() + " is twice in the table");
            }
            MetadataLayout layout = description.layout();
            if (member.dataBlocks() > (Long.MAX_VALUE
                    - Math.max(MetadataLayout.MAX_BYTES, layout.dataBytes()))
                    / description.blockSize()
                    || (i < description.slots() && layout.hasChecksums()
                            && !layout.coversBlocks(member.dataBlocks()))) {
                throw new IllegalArgumentException("member " + member.uuid() + " has "
                        + member.dataBlocks() + " blocks");
            }
        }
        long room = Layout.of(shape(description, members)).volumeBlocks();
        if (description.volumeBlocks() > room) {
            throw new IllegalArgumentException("a volume of " + description.volumeBlocks()
                    + " blocks where there is room for " + room);
        }
        if (reshape != null) {
            reshape.check(description, shape(description, members));
        }
    }

    /**
     * Returns the members for the slots of the engine.
     *
     * @param devices by slot; null for one that is not there
     * @param dataOffset in blocks
     */
    public List<RaidMember> raidMembers(IntFunction<@Nullable BlockDevice> devices,
            long dataOffset) {
        var slots = new ArrayList<RaidMember>();
        for (int slot = 0; slot < description.slots(); slot++) {
            BlockDevice device = devices.apply(slot);
            MemberRecord entry = members.get(slot);
            slots.add(device == null || entry.state() == SlotState.FAILED
                    ? RaidMember.missing()
                    : new RaidMember(device, dataOffset, entry.state(), entry.rebuiltStripes()));
        }
        return slots;
    }

    /** A volume that is not being reshaped. */
    public VolumeRecord(VolumeDescription description, long events, boolean clean,
            long resyncNext, long coveredSince, List<MemberRecord> members) {
        this(description, events, clean, resyncNext, coveredSince, members, null);
    }

    /** Returns the shape of the volume. */
    public Shape shape() {
        return shape(description, members);
    }

    private static Shape shape(VolumeDescription description, List<MemberRecord> members) {
        return new Shape(description.level(), description.blockSize(), description.chunkBlocks(),
                members.subList(0, description.slots()).stream().map(MemberRecord::dataBlocks)
                        .toList());
    }

    /** Returns a new volume with all data on its members; to be compared from the first stripe on. */
    public static VolumeRecord of(VolumeDescription description, List<MemberRecord> members) {
        return new VolumeRecord(description, 1, true, 0, 1, members);
    }

    /** Returns the index of the entry of a member; empty if it has none. */
    public OptionalInt indexOf(UUID member) {
        for (int i = 0; i < members.size(); i++) {
            if (members.get(i).uuid().equals(member)) {
                return OptionalInt.of(i);
            }
        }
        return OptionalInt.empty();
    }

    /** Returns the entries of spares. */
    public List<MemberRecord> spares() {
        return members.subList(description.slots(), members.size());
    }

    /** Returns this record with one entry more: a spare. */
    public VolumeRecord withSpare(UUID uuid, long dataBlocks) {
        var changed = new ArrayList<>(members);
        changed.add(new MemberRecord(uuid, SlotState.SPARE, dataBlocks, 0));
        return withMembers(changed);
    }

    /** Returns this record without the entry of a spare; unchanged if it has none. */
    public VolumeRecord withoutSpare(UUID uuid) {
        OptionalInt index = indexOf(uuid);
        if (index.isEmpty() || index.getAsInt() < description.slots()) {
            return this;
        }
        var changed = new ArrayList<>(members);
        changed.remove(index.getAsInt());
        return withMembers(changed);
    }

    /** Returns this record with the member of a slot taken out by the operator; unchanged unless it is FAILED. */
    public VolumeRecord withOut(int slot) {
        MemberRecord entry = members.get(slot);
        return entry.state() == SlotState.FAILED ? with(slot, entry.out()) : this;
    }

    /** The slots in this state, as bits. */
    public long slotsThatAre(SlotState state) {
        long slots = 0;
        for (int slot = 0; slot < description.slots(); slot++) {
            if (members.get(slot).state() == state) {
                slots |= 1L << slot;
            }
        }
        return slots;
    }

    /** Whether each slot has a member with all data. */
    public boolean isWhole() {
        return Long.bitCount(slotsThatAre(SlotState.ACTIVE)) == description.slots();
    }

    /** Whether the member of a slot, which is being rebuilt, has its part of a stripe. */
    public boolean hasRebuilt(int slot, long stripe) {
        MemberRecord member = members.get(slot);
        return member.state() == SlotState.REBUILDING && stripe < member.rebuiltStripes();
    }

    /** Whether every block can be had, wherever it is now, while the members of these slots are lost. */
    public boolean survives(long lostSlots) {
        return reshape == null
                ? Layout.of(shape()).survives(lostSlots)
                : reshape.map(this).survives(lostSlots);
    }

    /**
     * Whether the volume may have been in use without these slots by members that have a record next to this one:
     * before it began to be reshaped, or after that.
     */
    public boolean mayHaveDoneWithout(long slots) {
        return Layout.of(shape()).survives(slots)
                || (reshape != null && reshape.rows() == 0 && reshape.stagedRows() == 0
                        && reshape.map(this).before().survives(slots));
    }

    /** Returns this record with another entry in the table. */
    public VolumeRecord with(int index, MemberRecord member) {
        var changed = new ArrayList<>(members);
        changed.set(index, member);
        return withMembers(changed);
    }

    /**
     * Returns this record with another table. Members that were ACTIVE and are FAILED now are so since the next event.
     * One that was being rebuilt may never have got a record that said so: it keeps the event of its failure before.
     */
    public VolumeRecord withMembers(List<MemberRecord> changed) {
        var table = new ArrayList<MemberRecord>(changed);
        for (int slot = 0; slot < description.slots(); slot++) {
            MemberRecord before = members.get(slot);
            MemberRecord after = table.get(slot);
            if (after.state() == SlotState.FAILED && before.state() == SlotState.ACTIVE
                    && after.uuid().equals(before.uuid())) {
                table.set(slot, after.failedSince(events + 1));
            }
        }
        return new VolumeRecord(description, events, clean, resyncNext, coveredSince, table,
                reshape);
    }

    /** Returns this record without the events of the failures of these slots, which are not known. */
    public VolumeRecord withUnknownFailures(long slots) {
        VolumeRecord changed = this;
        for (long left = slots; left != 0; left &= left - 1) {
            int slot = Long.numberOfTrailingZeros(left);
            MemberRecord member = changed.members.get(slot);
            if (member.failedSince() != 0) {
                changed = changed.with(slot, member.failedSince(0));
            }
        }
        return changed;
    }

    /** Stopped in order, or not. */
    public VolumeRecord withClean(boolean changed) {
        return new VolumeRecord(description, events, changed, resyncNext, coveredSince, members,
                reshape);
    }

    /** Compared up to this stripe. */
    public VolumeRecord withResyncNext(long changed) {
        return new VolumeRecord(description, events, clean, changed, coveredSince, members,
                reshape);
    }

    /** A volume that has grown. */
    public VolumeRecord withDescription(VolumeDescription changed) {
        return new VolumeRecord(changed, events, clean, resyncNext, coveredSince, members,
                reshape);
    }

    /** Reshaped so far; null where it is not being reshaped. */
    public VolumeRecord withReshape(@Nullable ReshapeRecord changed) {
        return new VolumeRecord(description, events, clean, resyncNext, coveredSince, members,
                changed);
    }

    /**
     * The next record; while a member is out, the bitmap covers what was written since the last one without. What a
     * reshape writes it does not cover.
     */
    public VolumeRecord next() {
        return new VolumeRecord(description, events + 1, clean, resyncNext,
                isWhole() || reshape != null ? events + 1 : coveredSince, members, reshape);
    }

    public void requireFailed(int slot) throws InvalidRequestException {
        SlotState state = members.get(slot).state();
        if (state != SlotState.FAILED) {
            throw new InvalidRequestException("slot " + slot + " is " + state);
        }
    }
}
