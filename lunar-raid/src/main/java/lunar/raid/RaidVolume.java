package lunar.raid;

import java.util.function.Supplier;
import lunar.block.BlockDevice;
import lunar.block.StorageException;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Shape;
import org.jspecify.annotations.Nullable;

/**
 * A volume over members, which it owns; {@link Raid} creates it.
 *
 * <p><b>Failures.</b> A member request that fails but may succeed is sent again. What a member cannot read is computed
 * from the others and written back. A member that takes no writes, or is gone, is failed: its data are computed from
 * the others, and once that state is stable ({@link StateKeeper}) writes go on without it. If more is lost than the
 * level survives, writes fail, and reads of what is still there go on. The volume waits for a busy member. If a member
 * has no space for a write, the write fails and the member stays in: the stripe is restored, or, if that takes space,
 * waits for a resync, and until then nothing is computed from its redundancy.
 *
 * <p><b>Order and atomicity.</b> As with any device requests in flight at once are unordered. Writes of one stripe
 * take turns, so parity is always that of the data. A write is not atomic beyond what each member makes of its part.
 * A compare-and-write is atomic with regard to all writes.
 *
 * <p><b>Durability.</b> A flush reaches every member; a write with FUA is stable on each that it concerns.
 *
 * <p><b>Threads.</b> None of its own: requests continue on the threads on which members complete theirs. Any thread may
 * use a volume. {@link #close} ends all requests, then closes the members, and blocks for as long as members take.
 */
public interface RaidVolume extends BlockDevice {
    // --- what it is ---

    /** Returns the volume's shape. */
    Shape shape();

    /** Returns where the volume's blocks are. */
    Layout layout();

    /** Returns the current state of the volume. */
    VolumeState state();

    /**
     * Whether every block is available, whichever layout it is in, while the members of these slots, as bits, are lost.
     */
    boolean survives(long lostSlots);

    /** Returns how many ranges were repaired on the member of a slot since it came there. */
    long repairs(int slot);

    /** Returns the device in a slot, failed or not; null if there is none. */
    @Nullable
    BlockDevice member(int slot);

    // --- members ---

    /**
     * Fails the member of a slot. It stays open until the volume is closed, or the member is replaced.
     *
     * @return false if the volume cannot do without it; then it takes no writes from now on
     */
    boolean fail(int slot, StorageException cause);

    /**
     * Puts a new member in a slot that has failed, and rebuilds it. The previous one is closed. If the volume takes no
     * writes, the failure is reported by the scan.
     *
     * @throws IllegalArgumentException when the device does not fit, or the slot has not failed
     */
    Rebuild replace(int slot, BlockDevice device, long dataOffset, ScanOptions options);

    /**
     * Takes back a member that was away, and rebuilds the stripes that it missed. The set of these is requested while
     * nothing is being written, and must contain each stripe that was written since the slot failed.
     *
     * @throws IllegalArgumentException when the device does not fit, or the slot has not failed
     */
    Rebuild readmit(int slot, BlockDevice device, long dataOffset, Supplier<StripeSet> missed,
            ScanOptions options);

    /**
     * Runs work once all changes of slots so far are stable, on the thread that makes them so or on the caller's; at
     * once if the volume takes no writes any more. A listener that is told of a failed slot ({@link
     * RaidListener#slotFailed}) and is to put another member in it waits for that first.
     */
    void whenStable(Runnable work);

    // --- scans ---

    /**
     * Resumes the rebuild of a slot from its checkpoint.
     *
     * @throws IllegalArgumentException when the slot is not REBUILDING
     */
    Rebuild rebuild(int slot, ScanOptions options);

    /**
     * Restores the redundancy of the stale stripes ({@link RaidOptions#stale}), or of those that writes have left half
     * written because members had no space ({@link VolumeState#resyncedStripes} tells whether there are any); does
     * nothing if there are none. If blocks are to be moved, in both layouts.
     *
     * @throws IllegalStateException while a reshape is under way
     */
    BackgroundScan resync(ScanOptions options);

    /** Reads and compares every stripe; repairs mismatches, or only reports them. */
    Scrub scrub(boolean repairs, ScanOptions options);

    /** Whether blocks are to be moved, or being moved, into the layout of the larger volume. */
    boolean isReshaping();

    /**
     * Whether a reshape that is not complete goes before a resync that is due, since its layouts divide the blocks into
     * different stripes. Otherwise the resync goes first.
     */
    boolean reshapesFirst();

    /**
     * Moves the blocks that are not moved yet, after which the volume has its new blocks, too. Only one reshape at a
     * time, and no other scan meanwhile: a slot that fails gets another member afterwards. Copies that may differ since
     * a crash must be resynced first ({@link #resync}). A resync of parity comes afterwards, over all stripes.
     *
     * @throws IllegalStateException where there is nothing to be moved, another scan is under way, or a resync is to go
     *         first
     */
    BackgroundScan reshape(ScanOptions options);
}
