package lunar.raid.service.ownership;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import java.util.function.Supplier;
import lunar.block.BlockDevice;
import lunar.block.DeviceGoneException;
import lunar.block.ReservationConflictException;
import lunar.block.StorageException;
import lunar.raid.OwnershipOptions;
import lunar.raid.RaidVolume;
import lunar.raid.SlotState;
import lunar.raid.VolumeState;
import lunar.raid.metadata.record.OwnerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Increments the owner records of a volume's members, and confirms the lease when enough of them were still ours. Each
 * member has a thread that writes its record at regular intervals, in place of the record that it wrote before; so a
 * member that does not answer holds up no other. For any thread.
 */
final class Heartbeats {
    private static final System.Logger LOG = System.getLogger("lunar.raid");

    private final String title;
    private final OwnershipOptions options;
    private final Lease lease;
    private final Executor workers;
    private final Supplier<@Nullable OwnerRecord> next;
    private final Consumer<String> lost;
    private volatile BiConsumer<Integer, StorageException> unfit = (_, _) -> {};
    /** By slot. Guarded by this, as are the next three. */
    private final Map<Integer, OwnedMember> members = new HashMap<>();
    private LongPredicate suffices = _ -> false;
    /** Slots of the members that have not failed, as bits: if all of them are ours, the lease is confirmed. */
    private long present = -1;
    private long kicks;

    /**
     * @param workers runs a thread for each member until {@link #stopAll}
     * @param next returns the record of the next beat; null if there is none yet
     * @param lost told why when another owner has the volume
     */
    Heartbeats(String title, OwnershipOptions options, Lease lease, Executor workers,
            Supplier<@Nullable OwnerRecord> next, Consumer<String> lost) {
        this.title = title;
        this.options = options;
        this.lease = lease;
        this.workers = workers;
        this.next = next;
        this.lost = lost;
    }

    /** Whether the member of a slot is confirmed. */
    synchronized boolean has(int slot, BlockDevice device) {
        OwnedMember there = members.get(slot);
        return there != null && there.device.equals(device);
    }

    /** Forgets a device that is not a member any more. */
    synchronized void forget(@Nullable BlockDevice device) {
        BlockDevice bare = device == null ? null : LeasedDevice.bare(device);
        members.values().removeIf(one -> {
            boolean isMeant = one.device.equals(bare);
            if (isMeant) {
                one.stop();
            }
            return isMeant;
        });
        notifyAll();
    }

    /**
     * Sets the members to confirm from now on: those that are in the slots of a volume. Once a volume has failed, the
     * members whose failure was its end stay, but do not count: they may tell that another host has taken it.
     */
    void follow(RaidVolume volume) {
        VolumeState state = volume.state();
        var devices = new ArrayList<@Nullable BlockDevice>();
        long active = 0;
        long notFailed = 0;
        for (int slot = 0; slot < state.slots().size(); slot++) {
            SlotState is = state.slots().get(slot);
            devices.add(is == SlotState.FAILED ? null : volume.member(slot));
            active |= is == SlotState.ACTIVE ? 1L << slot : 0;
            notFailed |= is == SlotState.FAILED ? 0 : 1L << slot;
        }
        long whole = active;
        unfit = (slot, why) -> {
            boolean _ = volume.fail(slot, why);
        };
        List<OwnedMember> begun;
        synchronized (this) {
            suffices = slots -> volume
                    .survives(~(slots & whole) & (-1L >>> -state.slots().size()));
            present = notFailed;
            begun = changed(devices, !state.serving());
        }
        begun.forEach(this::begin);
        confirm();
    }

    /** Returns members that are new; stops those that are gone, unless failed ones stay. Guarded by this. */
    private List<OwnedMember> changed(List<@Nullable BlockDevice> devices, boolean failedStay) {
        var begun = new ArrayList<OwnedMember>();
        for (int slot = 0; slot < devices.size(); slot++) {
            BlockDevice device = devices.get(slot);
            if (device == null && failedStay) {
                continue;
            }
            BlockDevice bare = device == null ? null : LeasedDevice.bare(device);
            OwnedMember there = members.get(slot);
            if (there != null && !there.device.equals(bare)) {
                there.stop();
                members.remove(slot);
                there = null;
            }
            if (bare != null && there == null && lease.lost() == null) {
                begun.add(new OwnedMember(slot, bare, options));
            }
        }
        return begun;
    }

    /** Begins the beats of a member that is ours; it is confirmed from now on. */
    void begin(OwnedMember member) {
        OwnedMember before;
        synchronized (this) {
            before = members.put(member.slot, member);
        }
        if (before != null) {
            before.stop();
        }
        workers.execute(() -> beat(member));
    }

    private void beat(OwnedMember member) {
        while (!member.isStopped) {
            long seen;
            synchronized (this) {
                seen = kicks;
            }
            beatOnce(member);
            confirm();
            await(seen, member);
        }
    }

    private synchronized void await(long seen, OwnedMember member) {
        long untilNs = System.nanoTime() + options.beat().toNanos();
        try {
            while (kicks == seen && !member.isStopped) {
                long leftMs = (untilNs - System.nanoTime()) / 1_000_000;
                if (leftMs <= 0) {
                    return;
                }
                wait(leftMs);
            }
        } catch (InterruptedException _) {
            member.stop();
        }
    }

    /** Has all members confirmed soon, since requests wait for it. */
    synchronized void kick() {
        kicks++;
        notifyAll();
    }

    private void beatOnce(OwnedMember member) {
        OwnerRecord mine = next.get();
        if (mine == null) {
            return;
        }
        try {
            Optional<OwnerRecord> other = member.beat(mine);
            if (other.isPresent()) {
                lost.accept(title + " was taken over by " + other.get().title()
                        + ": this process serves it no more");
            }
        } catch (OwnedMember.NotAMemberException e) {
            member.stop();
            unfit.accept(member.slot, new DeviceGoneException(String.valueOf(e.getMessage()), e));
        } catch (ReservationConflictException e) {
            lost.accept(title + " was taken over by another host, which has reserved its members ("
                    + e.getMessage() + "): this process serves it no more");
        } catch (StorageException e) {
            LOG.log(System.Logger.Level.DEBUG, "{0}: {1} does not confirm its owner: {2}", title,
                    member.device, e.getMessage());
        }
    }

    /** Stops all beats; returns the members that have not failed. */
    synchronized Collection<OwnedMember> stopAll() {
        members.values().forEach(OwnedMember::stop);
        notifyAll();
        return members.values().stream().filter(one -> (present >>> one.slot & 1) != 0).toList();
    }

    private void confirm() {
        long atNs = 0;
        boolean isEnough = false;
        long nowNs = System.nanoTime();
        synchronized (this) {
            List<OwnedMember> latestFirst = members.values().stream()
                    .filter(one -> one.isConfirmed)
                    .sorted(Comparator.comparingLong((OwnedMember one) -> nowNs
                            - one.confirmedNs))
                    .toList();
            long all = all();
            long slots = 0;
            for (OwnedMember one : latestFirst) {
                slots |= 1L << one.slot;
                atNs = one.confirmedNs;
                if ((all != 0 && (all & ~slots) == 0) || suffices.test(slots)) {
                    isEnough = true;
                    break;
                }
            }
        }
        if (isEnough) {
            lease.confirm(atNs);
        }
    }

    /** The slots with a member that counts, as bits; where all have failed, each one does. */
    private long all() {
        return members.keySet().stream().mapToLong(slot -> 1L << slot).reduce(0, (a, b) -> a | b)
                & (present == 0 ? -1 : present);
    }
}
