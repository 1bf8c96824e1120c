package lunar.raid.metadata.page;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.IntConsumer;
import lunar.block.BlockDevice;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.raid.FailurePolicy;
import lunar.raid.layout.Layout;
import org.jspecify.annotations.Nullable;

/**
 * The members of a volume that metadata are written to now, by slot; whole devices, not their data areas.
 *
 * <p>A member that does not take a write is reported to {@link Faults}, once for each write, and that write stays
 * incomplete until the volume has noted on the others that the member has failed, and calls {@link #drop}. So nothing
 * counts as stable that is not on all members which the record calls good.
 */
public final class MemberSet {
    /** Called when a member fails, on the thread that completes the request. Must neither block nor throw. */
    @FunctionalInterface
    public interface Faults {
        /** A write or flush of metadata failed. The slot is to be dropped when its failure has been noted. */
        void failed(int slot, StorageException why);
    }

    private final @Nullable RetryingDevice[] devices;
    private final FailurePolicy policy;
    private final Faults faults;
    private final List<Broadcast> broadcasts = new CopyOnWriteArrayList<>();
    private final List<IntConsumer> leaving = new CopyOnWriteArrayList<>();
    private final List<Runnable> changed = new CopyOnWriteArrayList<>();
    /** Losses of each device that do not count: the volume goes on with them, or they are from before it came. */
    private final long[] acceptedLosses;
    /** Slots, as bits. */
    private long active;
    private volatile int now;
    /** Why nothing is written any more; null while it is. */
    private volatile @Nullable StorageException end;

    /** Creates a set without members. */
    public MemberSet(int slots, Faults faults) {
        this(slots, FailurePolicy.DEFAULT, faults);
    }

    /**
     * Without members yet.
     *
     * @param policy how often a request is sent again, and how long it may take
     */
    public MemberSet(int slots, FailurePolicy policy, Faults faults) {
        this.devices = new @Nullable RetryingDevice[slots];
        acceptedLosses = new long[slots];
        this.policy = policy;
        this.faults = faults;
    }

    /** Slots, with a member or without. */
    public int slots() { return devices.length; }

    /** Adds the member of a slot. Its metadata area must be blank, or unchanged since it was read. */
    public synchronized void add(int slot, BlockDevice device) {
        devices[slot] = retrying(device);
        accept(slot);
        active |= 1L << slot;
    }

    /** A device as it will be {@link #device} when it has been added. */
    public RetryingDevice retrying(BlockDevice device) {
        return device instanceof RetryingDevice already
                ? already
                : new RetryingDevice(device, policy.retries());
    }

    /** Ends the writes to a slot's member, and the waits for it. */
    public void drop(int slot) {
        BlockDevice device = device(slot);
        if (device != null) {
            drop(slot, device);
        }
    }

    /** Like {@link #drop(int)}, but only while the slot still holds this device. */
    public void drop(int slot, BlockDevice device) {
        synchronized (this) {
            if (!device.equals(devices[slot])) {
                return;
            }
            active &= ~(1L << slot);
        }
        for (IntConsumer one : leaving) {
            one.accept(slot);
        }
        for (Broadcast broadcast : broadcasts) {
            broadcast.drop(slot, device);
        }
        changed.forEach(Runnable::run);
    }

    /** Returns the slot of the member with the blocking request that ended with this; -1 where it was none of them. */
    public int slotOf(StorageException failure) {
        for (int slot = 0; slot < devices.length; slot++) {
            RetryingDevice device = device(slot);
            if (device != null && device.hasFailedWith(failure)) {
                return slot;
            }
        }
        return -1;
    }

    /** The slots that are written to, as bits. */
    public synchronized long active() {
        return active;
    }

    /** Whether all slots are. */
    public boolean isWhole() {
        return active() == Layout.all(slots());
    }

    /** The member of a slot, which is asked again where that may help; null where there has been none. */
    public synchronized @Nullable RetryingDevice device(int slot) {
        return devices[slot];
    }

    /** The member of a slot as it was given. */
    public @Nullable BlockDevice given(int slot) {
        RetryingDevice device = device(slot);
        return device == null ? null : device.device();
    }

    /**
     * Ends the volume: nothing is written any more, and all waits for members end. Nothing has succeeded then: so
     * nothing is freed, or taken for stable, that is not so on all members that were there.
     */
    public void abandon(StorageException why) {
        end = why;
        broadcasts.forEach(Broadcast::abandon);
        changed.forEach(Runnable::run);
    }

    public boolean isAbandoned() { return end != null; }

    /** Returns the reason why no member has taken something. */
    public DeviceGoneException gone(String what) {
        StorageException why = end;
        return why == null
                ? new DeviceGoneException("no member is left that takes the " + what)
                : new DeviceGoneException("the " + what + " cannot be written: "
                        + why.getMessage(), why);
    }

    int retries() { return policy.retries(); }

    int now() { return now; }

    /** Time goes on: members that were busy are asked again, and those that do not answer for too long reported. */
    public void tick() {
        int time = now + 1;
        now = time;
        broadcasts.forEach(Broadcast::askAgain);
        int ticks = policy.stallTicks();
        if (ticks > 0) {
            for (Broadcast broadcast : broadcasts) {
                broadcast.reportStalled(time, ticks);
            }
        }
    }

    void join(Broadcast broadcast) { broadcasts.add(broadcast); }

    /** Registers a listener for slots that are dropped, called before the waits for them end. */
    public void onDrop(IntConsumer told) {
        leaving.add(told);
    }

    /**
     * Registers a listener that is called after a slot was dropped or the volume has ended: what waits without a
     * broadcast under way may wait for nothing now. Called without a lock.
     */
    public void onChange(Runnable told) { changed.add(told); }

    /** Sends again what failed because a member lost writes: the volume goes on with that member. */
    public void sendLostAgain() {
        synchronized (this) {
            for (int slot = 0; slot < devices.length; slot++) {
                accept(slot);
            }
        }
        broadcasts.forEach(Broadcast::sendLostAgain);
    }

    private void accept(int slot) {
        BlockDevice device = devices[slot];
        acceptedLosses[slot] = device == null ? 0 : device.writeLosses();
    }

    /**
     * Whether a member has lost writes with which the volume does not go on yet: what it flushes now vouches for
     * nothing before.
     */
    boolean hasLostWrites(int slot, BlockDevice device) {
        long losses = device.writeLosses();
        synchronized (this) {
            return device.equals(devices[slot]) && losses != acceptedLosses[slot];
        }
    }

    /** The volume has failed these slots: they are dropped where something waits because they lost writes. */
    public void dropLost(long slots) {
        for (long left = slots & active(); left != 0; left &= left - 1) {
            int slot = Long.numberOfTrailingZeros(left);
            if (broadcasts.stream().anyMatch(broadcast -> broadcast.isLost(slot))) {
                drop(slot);
            }
        }
    }

    public void report(int slot, StorageException why) { faults.failed(slot, why); }
}
