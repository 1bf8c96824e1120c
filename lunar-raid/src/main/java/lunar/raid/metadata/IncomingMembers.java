package lunar.raid.metadata;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import lunar.block.BlockDevice;
import lunar.raid.SlotState;
import lunar.raid.VolumeState;
import lunar.raid.metadata.bitmap.IntentBitmap;
import lunar.raid.metadata.page.MemberSet;
import lunar.raid.metadata.page.PageWriter;
import lunar.raid.metadata.superblock.Superblocks;
import org.jspecify.annotations.Nullable;

/**
 * Devices on their way into slots. A device waits until the failure of its slot is stable, then gets pages, and is in
 * the table as soon as the volume says REBUILDING. For any thread.
 */
final class IncomingMembers {
    private final MemberSet members;
    private final Superblocks superblocks;
    private final List<PageWriter> writers;
    private final @Nullable IntentBitmap bitmap;
    private final MetadataSyncQueue joinings;
    /** Slots with a stable failure, as bits. Guarded by this, as all below. */
    private long noted;
    /** Slots of the members that were taken out, as bits. */
    private long out;
    /** By slot, the device that comes in when its failure is stable. */
    private final Map<Integer, IncomingMember> waiting = new HashMap<>();
    /** By slot, the device that gets pages, and is in the table as soon as the volume says REBUILDING. */
    private final Map<Integer, IncomingMember> arriving = new HashMap<>();

    /**
     * @param writers writers of the pages that a member gets, apart from the superblock
     * @param failed slots with a stable failure, as bits
     */
    IncomingMembers(MemberSet members, Superblocks superblocks, List<PageWriter> writers,
            @Nullable IntentBitmap bitmap, MetadataSyncQueue joinings, long failed) {
        this.members = members;
        this.superblocks = superblocks;
        this.writers = List.copyOf(writers);
        this.bitmap = bitmap;
        this.joinings = joinings;
        noted = failed;
    }

    /** Notes that a device coming into a slot has not taken metadata. */
    synchronized void failed(int slot) {
        IncomingMember member = arriving.containsKey(slot)
                ? arriving.get(slot)
                : waiting.get(slot);
        if (member != null) {
            member.hasFailed = true;
        }
    }

    private Stream<IncomingMember> all() {
        return Stream.of(waiting, arriving).flatMap(some -> some.values().stream());
    }

    /** Returns the slot that a spare is coming into; -1 where it is not. */
    synchronized int slotOf(UUID spare) {
        return all().filter(member -> member.uuid.equals(spare)).mapToInt(member -> member.slot)
                .findFirst().orElse(-1);
    }

    /** Returns the UUIDs of the devices that are on their way. */
    synchronized List<UUID> uuids() {
        return all().map(member -> member.uuid).toList();
    }

    /** Adds a device that is to come into a slot. Blocks. */
    void add(int slot, BlockDevice device, UUID uuid) {
        var member = new IncomingMember(slot, uuid, device, members, superblocks, writers);
        boolean isNoted;
        synchronized (this) {
            isNoted = isNoted(slot);
            if (!isNoted) {
                waiting.put(slot, member);
                joinings.forget(slot);
            }
        }
        if (isNoted) {
            install(member);
        }
    }

    private boolean isNoted(int slot) { return (noted & 1L << slot) != 0; }

    /** Gives a device pages from now on. */
    void install(IncomingMember member) {
        IncomingMember before;
        synchronized (this) {
            before = arriving.put(member.slot, member);
            out &= ~(1L << member.slot);
            joinings.forget(member.slot);
        }
        if (before != null) {
            superblocks.drop(before.uuid);
            members.drop(member.slot, before.device);
        }
        member.install(members, superblocks);
        if (bitmap != null) {
            bitmap.hold(true);
        }
        joinings.join(member.slot);
    }

    /** Takes a slot's device since the last change of the table; null where there is none, or it has failed. */
    synchronized @Nullable IncomingMember take(int slot) {
        IncomingMember member = arriving.get(slot);
        if (member == null || member.hasFailed) {
            return null;
        }
        noted &= ~(1L << slot);
        return arriving.remove(slot);
    }

    /** Notes that the member of a slot was taken out; so it is until a device comes into the slot. */
    synchronized void takeOut(int slot) {
        out |= 1L << slot;
    }

    synchronized boolean isOut(int slot) { return (out & 1L << slot) != 0; }

    /** Notes that a state is stable; returns the devices that have waited for failures in it, to be installed. */
    List<IncomingMember> stable(VolumeState state) {
        var next = new ArrayList<IncomingMember>();
        for (int slot = 0; slot < state.slots().size(); slot++) {
            if (state.slots().get(slot) == SlotState.FAILED) {
                drop(slot);
                synchronized (this) {
                    noted |= 1L << slot;
                    IncomingMember member = waiting.remove(slot);
                    if (member != null) {
                        next.add(member);
                    }
                }
            }
        }
        return next;
    }

    /** The failure of a slot is stable: its member gets nothing more, unless another one has come meanwhile. */
    void drop(int slot) {
        UUID uuid = superblocks.record().members().get(slot).uuid();
        IncomingMember member;
        synchronized (this) {
            member = arriving.get(slot);
            if (member == null ? isNoted(slot) : !member.hasFailed) {
                return;
            }
            arriving.remove(slot);
            joinings.forget(slot);
        }
        if (member == null) {
            superblocks.drop(uuid);
            members.drop(slot);
        } else {
            superblocks.drop(member.uuid);
            members.drop(slot, member.device);
        }
    }
}
