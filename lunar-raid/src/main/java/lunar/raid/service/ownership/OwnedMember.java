package lunar.raid.service.ownership;

import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import lunar.block.BlockDevice;
import lunar.block.DeadlineException;
import lunar.block.Fencing;
import lunar.block.InvalidRequestException;
import lunar.block.NotSupportedException;
import lunar.block.ReservationConflictException;
import lunar.block.StorageException;
import lunar.raid.OwnershipOptions;
import lunar.raid.metadata.record.OwnerRecord;
import lunar.raid.metadata.superblock.OwnerRecordStore;
import org.jspecify.annotations.Nullable;

/**
 * The owner record of one member, and its reservation if it supports one. Blocks; a lock serializes callers.
 */
public final class OwnedMember {
    private static final System.Logger LOG = System.getLogger("lunar.raid");
    /** First two bytes of each key of a reservation: "LN". */
    private static final long KEY_MARK = 0x4c4eL;
    private static final int KEY_MARK_SHIFT = 48;
    private static final int TRIES = 3;
    /** Number of leases without a beat after which another process may take a member. */
    static final int SILENT_LEASES = 2;

    /** Thrown if the device is not the same member any more. */
    static final class NotAMemberException extends Exception {
        private static final long serialVersionUID = 1;

        NotAMemberException(String message) { super(message); }
    }

    final int slot;
    /** The member itself: it is used whether the lease lasts or not. */
    final BlockDevice device;
    private final OwnerRecordStore place;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable Fencing fencing;
    private boolean hasJoined;
    /** When the record was confirmed last; valid only if {@link #isConfirmed}. */
    volatile long confirmedNs;
    volatile boolean isConfirmed;
    volatile boolean isStopped;
    private final LongSupplier clock;
    /** A start that replaces a record meanwhile does not see one that is written later than this. */
    private final long lateNs;
    private boolean wasLate;
    /** When the last write of the record began; valid only if {@link #hasWritten}. */
    private long writtenNs;
    private boolean hasWritten;
    /** Whether the record was written so late that it may have replaced a later owner's, and until when. */
    private boolean isInDoubt;
    private long doubtEndNs;

    /** @param reserves whether the member is to be reserved if it supports that */
    public OwnedMember(int slot, BlockDevice device, boolean reserves) {
        this(slot, device, OwnershipOptions.DEFAULT.withReservations(reserves));
    }

    OwnedMember(int slot, BlockDevice device, OwnershipOptions options) {
        this(slot, device, options, System::nanoTime);
    }

    OwnedMember(int slot, BlockDevice device, OwnershipOptions options, LongSupplier clock) {
        this.slot = slot;
        this.device = device;
        this.clock = clock;
        lateNs = options.settle().isZero()
                ? Long.MAX_VALUE
                : options.settle().toNanos() / 2;
        place = new OwnerRecordStore(device);
        fencing = options.reserves() ? device.fencing().orElse(null) : null;
    }

    /** Returns a reservation key with the mark of this software. */
    static long key(long random) {
        return (KEY_MARK << KEY_MARK_SHIFT) | (random & ((1L << KEY_MARK_SHIFT) - 1));
    }

    /** Whether a key belongs to an owner of some volume. */
    static boolean isOwners(long key) {
        return key >>> KEY_MARK_SHIFT == KEY_MARK;
    }

    /** Whether no other process can intervene between a read of the record and its change. */
    boolean isAtomic() {
        return place.isAtomic();
    }

    /** Whether another process may have written its record, and seen it stay, while this one's was written. */
    boolean wasLate() {
        lock.lock();
        try {
            return wasLate;
        } finally {
            lock.unlock();
        }
    }

    public Optional<OwnerRecord> read() throws StorageException {
        lock.lock();
        try {
            return place.read();
        } finally {
            lock.unlock();
        }
    }

    /** Replaces the record that was read last; returns false if another process was faster. */
    boolean take(OwnerRecord mine) throws StorageException {
        lock.lock();
        try {
            join(mine.key());
            long startNs = clock.getAsLong();
            if (!place.swap(mine)) {
                return false;
            }
            wasLate = isLate(startNs);
            written(startNs);
            confirmed(startNs);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Whether reading the record and writing the next one took too long, on a device that does not compare itself. */
    private boolean isLate(long startNs) {
        return !place.isAtomic() && clock.getAsLong() - startNs > lateNs;
    }

    private void written(long startNs) {
        writtenNs = startNs;
        hasWritten = true;
    }

    private void confirmed(long atNs) {
        confirmedNs = atNs;
        isConfirmed = true;
    }

    private void join(long key) throws StorageException {
        Fencing there = fencing;
        if (there == null || hasJoined) {
            return;
        }
        try {
            there.join(key);
            hasJoined = true;
        } catch (NotSupportedException | InvalidRequestException e) {
            LOG.log(System.Logger.Level.DEBUG, "{0} is not reserved: {1}", device,
                    e.getMessage());
            fencing = null;
        }
    }

    /** Shuts all other owners out. */
    void seize(long key) throws StorageException {
        lock.lock();
        try {
            seizeNow(key);
        } finally {
            lock.unlock();
        }
    }

    /** Shuts all other owners out of a device that has no record. */
    void reserve(long key) throws StorageException {
        lock.lock();
        try {
            join(key);
            seizeNow(key);
        } finally {
            lock.unlock();
        }
    }

    void leave(long key) throws StorageException {
        Fencing there = fencing;
        if (there != null) {
            there.leave(key);
        }
    }

    private void seizeNow(long key) throws StorageException {
        Fencing there = fencing;
        if (there == null) {
            return;
        }
        try {
            there.seize(key, OwnedMember::isOwners);
        } catch (NotSupportedException | InvalidRequestException e) { // registers, but does not reserve
            LOG.log(System.Logger.Level.DEBUG, "{0} is not reserved: {1}", device,
                    e.getMessage());
            fencing = null;
        }
    }

    /**
     * Confirms that the record is still ours.
     *
     * @return the record of the process that has taken the member; empty if the record is ours
     * @throws NotAMemberException if the device is not the same member any more
     * @throws ReservationConflictException if only the reservation is another process's
     * @throws StorageException if that is not known
     */
    Optional<OwnerRecord> beat(OwnerRecord mine) throws StorageException, NotAMemberException {
        lock.lock();
        try {
            return isStopped ? Optional.empty() : beatNow(mine);
        } catch (ReservationConflictException e) {
            Optional<OwnerRecord> other = foreign(place.read(), mine);
            if (other.isPresent()) {
                return other;
            }
            throw e;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Beats once. After a beat that failed, the member is read before it is written or its reservation is touched. A
     * record that was written late, and so long after the one before that another owner may have taken the member in
     * between, does not confirm it: that owner, whose record it replaced, writes its own again within a lease.
     */
    private Optional<OwnerRecord> beatNow(OwnerRecord mine)
            throws StorageException, NotAMemberException {
        for (int i = 0; i < TRIES; i++) {
            if (isInDoubt || !place.isKnown()) {
                Optional<OwnerRecord> found = place.read();
                if (foreign(found, mine).isPresent()) {
                    return found;
                }
                requireMember(found, mine);
                requireNoDoubt();
            }
            join(mine.key());
            long startNs = clock.getAsLong();
            if (swapped(mine, i == TRIES - 1)) {
                long leaseNs = TimeUnit.MILLISECONDS.toNanos(mine.leaseMs());
                isInDoubt = isLate(startNs) && !(hasWritten
                        && clock.getAsLong() - writtenNs < SILENT_LEASES * leaseNs);
                written(startNs);
                if (isInDoubt) {
                    doubtEndNs = clock.getAsLong() + leaseNs;
                    continue;
                }
                hold(mine.key());
                confirmed(startNs);
                return Optional.empty();
            }
        }
        throw new ReservationConflictException(device + ": its owner record changes all the time");
    }

    private void requireNoDoubt() throws DeadlineException {
        if (isInDoubt && clock.getAsLong() - doubtEndNs < 0) {
            throw new DeadlineException(device + ": its owner record was written too late to tell"
                    + " whether another owner has it: waits for that one's");
        }
        isInDoubt = false;
    }

    /** Requires that a member once confirmed still has a record of our volume: it may have been erased or reused. */
    private void requireMember(Optional<OwnerRecord> found, OwnerRecord mine)
            throws NotAMemberException {
        if (isConfirmed && found.filter(it -> it.volume().equals(mine.volume())).isEmpty()) {
            throw new NotAMemberException(device + found
                    .map(it -> " is a member of another volume now, which " + it.title() + " runs")
                    .orElse(" has lost its owner record") + ": it is not written to any more");
        }
    }

    /** Replaces the record; registers a path that has just come up and is not registered yet. */
    private boolean swapped(OwnerRecord mine, boolean isLast) throws StorageException {
        try {
            return place.swap(mine);
        } catch (ReservationConflictException e) {
            Fencing there = fencing;
            if (there == null || isLast) {
                throw e;
            }
            boolean _ = there.holds(mine.key());
            return false;
        }
    }

    private void hold(long key) throws StorageException {
        Fencing there = fencing;
        if (there != null && !there.holds(key)) { // such as after a reset of the target
            there.join(key);
            seizeNow(key);
        }
    }

    private static Optional<OwnerRecord> foreign(Optional<OwnerRecord> found, OwnerRecord mine) {
        return found.filter(it -> it.volume().equals(mine.volume()) && it.supersedes(mine));
    }

    private static boolean isOurs(Optional<OwnerRecord> found, OwnerRecord mine) {
        return found.filter(it -> it.token().equals(mine.token())).isPresent();
    }

    /** Stops the beats. */
    void stop() { isStopped = true; }

    /** Releases the member. Gives up soon if it does not answer. */
    void release(OwnerRecord mine) throws StorageException, InterruptedException {
        stop();
        if (!lock.tryLock(1, TimeUnit.SECONDS)) {
            return;
        }
        try {
            if (isInDoubt) {
                return;
            }
            // What was read last may be the record of a process that was faster to start.
            if (isOurs(place.read(), mine) && place.swap(mine.asReleased())) {
                leave(mine.key());
            }
        } finally {
            lock.unlock();
        }
    }
}
