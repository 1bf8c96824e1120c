package lunar.raid.service.ownership;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import lunar.block.BlockDevice;
import lunar.block.BusyException;
import lunar.block.DeviceGoneException;
import lunar.block.InvalidRequestException;
import lunar.block.NotSupportedException;
import lunar.block.OwnershipLostException;
import lunar.block.ReservationConflictException;
import lunar.block.StorageException;
import lunar.raid.OwnershipOptions;
import lunar.raid.RaidVolume;
import lunar.raid.metadata.record.OwnerRecord;
import lunar.raid.metadata.superblock.OwnerRecordStore;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a volume to one owner: docs/adr/011-one-owner-per-volume.md.
 *
 * <p>{@link #acquire} writes an owner record to the members, unless another process certainly or possibly runs the
 * volume, and reserves the members that support persistent reservations. From then on {@link Heartbeats} confirm that
 * the records are still ours. The {@link Lease} lasts as long as enough members to run the volume have been confirmed
 * recently; members are used through {@link #guard}. If a record turns out to be another owner's, the lease is lost for
 * good.
 */
public final class Ownership {
    private static final System.Logger LOG = System.getLogger("lunar.raid");
    /** Reads of a record during a beat of its owner. */
    private static final int LOOKS_PER_BEAT = 4;
    private static final int TRIES = 8;
    private static final UUID NIL = new UUID(0, 0);

    private final String title;
    private final OwnershipOptions options;
    private final UUID token = UUID.randomUUID();
    private final long key = OwnedMember.key(ThreadLocalRandom.current().nextLong());
    private final AtomicLong beats = new AtomicLong();
    private final Lease lease;
    private volatile Consumer<StorageException> whenLost = _ -> {};
    private volatile @Nullable OwnerRecord mine;
    private final Heartbeats heartbeats;
    /** Devices without a record that are reserved. Guarded by this. */
    private final List<OwnedMember> others = new ArrayList<>();

    /** @param workers runs a thread for each member until {@link #end} */
    public Ownership(String title, OwnershipOptions options, Executor workers) {
        this.title = title;
        this.options = options;
        lease = new Lease(options.lease().toNanos(), this::kick);
        heartbeats = new Heartbeats(title, options, lease, workers, this::nextRecord, this::lose);
    }

    public Lease lease() { return lease; }

    private void kick() { heartbeats.kick(); }

    /** Returns the record of the next beat; null before the first. */
    private @Nullable OwnerRecord nextRecord() {
        OwnerRecord now = mine;
        return now == null ? null : next(now);
    }

    private OwnerRecord next(OwnerRecord now) {
        return new OwnerRecord(now.volume(), now.epoch(), now.token(), beats.incrementAndGet(),
                false, now.leaseMs(), now.key(), now.process(), now.contact());
    }

    /** Sets the listener for a takeover by another owner, called at once if that has happened; must not block. */
    public void onLost(Consumer<StorageException> listener) {
        whenLost = listener;
        StorageException why = lease.lost();
        if (why instanceof OwnershipLostException) {
            listener.accept(why);
        }
    }

    // --- the beginning ---

    /**
     * Acquires the members that are not owned yet. Blocks, for {@link OwnershipOptions#silence} if the previous owner
     * has not released them and may be alive.
     *
     * @param devices by slot; null if there is none
     * @param contact where commands will reach this process
     * @return by slot, why a member has failed meanwhile; the other members are owned
     * @throws BusyException if another process runs the volume; the message is one line
     */
    public Map<Integer, StorageException> acquire(UUID volume,
            List<? extends @Nullable BlockDevice> devices, String contact)
            throws StorageException {
        var failed = new TreeMap<Integer, StorageException>();
        var fresh = new ArrayList<OwnedMember>();
        for (int slot = 0; slot < devices.size(); slot++) {
            BlockDevice device = devices.get(slot);
            if (device != null && !heartbeats.has(slot, LeasedDevice.bare(device))) {
                fresh.add(new OwnedMember(slot, LeasedDevice.bare(device), options));
            }
        }
        OwnerRecord before = OwnerRecordStore.newest(read(fresh, failed).values(), volume);
        boolean isForced = false;
        if (before != null && !before.released() && !before.token().equals(token)) {
            isForced = requireGone(before, fresh);
        }
        OwnerRecord record = record(volume, before, contact);
        ThisProcess.begins(token);
        var taken = new ArrayList<OwnedMember>();
        boolean done = false;
        try {
            take(fresh, record, new Before(before, isForced), taken, failed);
            if (isForced && before != null) {
                awaitLease(before);
                if (!taken.stream().allMatch(OwnedMember::isAtomic)) {
                    requireOurs(taken, failed); // it may have written once more, late
                }
            }
            done = true;
        } finally {
            if (!done) {
                giveBack(taken, record, before);
            }
        }
        taken.forEach(heartbeats::begin);
        return failed;
    }

    /** Whether all these members are owned. */
    public boolean ownsAll(List<? extends @Nullable BlockDevice> devices) {
        for (int slot = 0; slot < devices.size(); slot++) {
            BlockDevice device = devices.get(slot);
            if (device != null && !heartbeats.has(slot, LeasedDevice.bare(device))) {
                return false;
            }
        }
        return true;
    }

    private OwnerRecord record(UUID volume, @Nullable OwnerRecord before, String contact) {
        OwnerRecord now = mine;
        long epoch = before == null || before.token().equals(token) ? 1 : before.epoch() + 1;
        if (now == null || now.epoch() < epoch) {
            now = new OwnerRecord(volume, epoch, token, beats.incrementAndGet(), false,
                    Math.toIntExact(options.lease().toMillis()), options.reserves() ? key : 0,
                    ThisProcess.asOwner(), contact);
            mine = now;
        }
        return now;
    }

    private static Map<OwnedMember, Optional<OwnerRecord>> read(List<OwnedMember> fresh,
            Map<Integer, StorageException> failed) {
        var records = new HashMap<OwnedMember, Optional<OwnerRecord>>();
        for (OwnedMember one : List.copyOf(fresh)) {
            try {
                records.put(one, one.read());
            } catch (StorageException e) {
                failed.put(one.slot, e);
                fresh.remove(one);
            }
        }
        return records;
    }

    /** Requires that an owner is gone, or to be taken over; returns whether it is taken over while it may be alive. */
    private boolean requireGone(OwnerRecord owner, List<OwnedMember> fresh)
            throws StorageException {
        ThisProcess.Life life = ThisProcess.life(owner);
        if (life == ThisProcess.Life.DEAD) {
            LOG.log(System.Logger.Level.INFO,
                    "{0}: {1}, which ran it last, has ended without stopping it", title,
                    owner.title());
            return false;
        }
        if (options.takesOver()) {
            LOG.log(System.Logger.Level.WARNING, "{0}: taken over from {1}, as was asked for",
                    title, owner.title());
            return true;
        }
        if (life == ThisProcess.Life.ALIVE) {
            throw inUse(owner);
        }
        awaitSilence(owner, fresh);
        return false;
    }

    private BusyException inUse(OwnerRecord owner) {
        return new BusyException(title + " is in use by " + OwnerWatch.title(owner)
                + ": use it there, or stop it there; 'take-over=yes' takes it from there, and what"
                + " runs there ends");
    }

    private void awaitSilence(OwnerRecord owner, List<OwnedMember> fresh)
            throws StorageException {
        Duration silence = OwnerWatch.silence(owner, options);
        LOG.log(System.Logger.Level.WARNING,
                "{0}: {1}, which ran it last, has not stopped it; waits {2} s to see whether it"
                        + " still runs",
                title, owner.title(), silence.toSeconds());
        if (OwnerWatch.changes(fresh, silence, options.beat().dividedBy(LOOKS_PER_BEAT))) {
            throw inUse(owner);
        }
        LOG.log(System.Logger.Level.INFO, "{0}: {1} does not run it any more", title,
                owner.title());
    }

    /**
     * The owner record that is replaced.
     *
     * @param record null if there is none
     * @param isForced whether members are taken even from an owner that still increments its record
     */
    private record Before(@Nullable OwnerRecord record, boolean isForced) {}

    private void take(List<OwnedMember> fresh, OwnerRecord record, Before before,
            List<OwnedMember> taken, Map<Integer, StorageException> failed)
            throws StorageException {
        for (OwnedMember one : fresh) {
            try {
                take(one, record, before);
                taken.add(one);
            } catch (BusyException | ReservationConflictException e) {
                throw refused(one, e);
            } catch (StorageException e) {
                failed.put(one.slot, e);
            }
        }
        for (OwnedMember one : List.copyOf(taken)) {
            try {
                one.seize(key);
            } catch (ReservationConflictException e) {
                throw refused(one, e);
            } catch (StorageException e) {
                failed.put(one.slot, e);
                taken.remove(one);
            }
        }
        if (!taken.stream().allMatch(OwnedMember::isAtomic)) {
            settle(taken, failed);
        }
    }

    /** Takes a member. An owner that was silent and now writes its record keeps it, unless it is forced out. */
    private void take(OwnedMember member, OwnerRecord record, Before before)
            throws StorageException {
        OwnerRecord owner = before.record;
        for (int i = 0; i < TRIES; i++) {
            if (member.take(record)) {
                return;
            }
            UUID there = member.read().map(OwnerRecord::token).orElse(NIL);
            if (owner == null || !there.equals(owner.token())) {
                break;
            }
            if (!before.isForced && ThisProcess.life(owner) != ThisProcess.Life.DEAD) {
                throw inUse(owner);
            }
        }
        throw new BusyException(
                title + " is just being started by another process: try again");
    }

    /** Releases members after a failed start, once a previous owner answers no more: the next start need not wait. */
    private void giveBack(List<OwnedMember> taken, OwnerRecord record,
            @Nullable OwnerRecord before) throws StorageException {
        boolean isInterrupted = Thread.interrupted();
        try {
            if (before != null && !before.released() && !before.token().equals(token)
                    && !taken.isEmpty()) {
                awaitLease(before);
            }
            release(taken, record);
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private StorageException refused(OwnedMember member, StorageException e) {
        return e instanceof BusyException
                ? e
                : new BusyException(title + ": " + member.device + " is reserved by another host ("
                        + e.getMessage() + "): end the reservation there, or add reservations=no",
                        e);
    }

    /**
     * Waits, where members have no atomic write, and yields to a process that has written its record later. A process
     * that was faster than a late record of ours sees it, and stops, before its lease is over.
     */
    private void settle(List<OwnedMember> taken, Map<Integer, StorageException> failed)
            throws StorageException {
        boolean isLate = taken.stream().anyMatch(OwnedMember::wasLate);
        pause(isLate ? options.settle().plus(options.lease()) : options.settle());
        requireOurs(taken, failed);
    }

    private void requireOurs(List<OwnedMember> taken, Map<Integer, StorageException> failed)
            throws StorageException {
        for (OwnerRecord found : read(taken, failed).values().stream().flatMap(Optional::stream)
                .toList()) {
            if (!found.token().equals(token)) {
                throw inUse(found);
            }
        }
    }

    /**
     * Waits until an owner that was not silent certainly answers no more. Reservations do not shorten this: they refuse
     * its writes, but not its reads.
     */
    private static void awaitLease(OwnerRecord before) throws StorageException {
        if (ThisProcess.life(before) != ThisProcess.Life.DEAD) {
            pause(Duration.ofMillis(Math.min(before.leaseMs(), OwnerRecord.MAX_LEASE_MS)));
        }
    }

    static void pause(Duration time) throws StorageException {
        try {
            Thread.sleep(time);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DeviceGoneException("interrupted", e);
        }
    }

    // --- while it runs ---

    /** Returns a device that this volume uses only while the lease lasts. Closes it if the lease is lost. */
    public BlockDevice guard(BlockDevice device) throws StorageException {
        boolean done = false;
        try {
            StorageException why = lease.lost();
            if (why != null) {
                throw why;
            }
            if (options.reserves()) {
                rejoin(device);
            }
            done = true;
            return new LeasedDevice(device, lease);
        } finally {
            if (!done) {
                closeQuietly(device);
            }
        }
    }

    /** Like {@link #guard}, but without checking the lease or registering the device. */
    public BlockDevice leased(BlockDevice device) {
        return device instanceof LeasedDevice ? device : new LeasedDevice(device, lease);
    }

    /** Shuts other owners out of a device without a record, such as that of the journal. Blocks. */
    public void reserve(BlockDevice device) throws StorageException {
        var other = new OwnedMember(-1, LeasedDevice.bare(device), options);
        try {
            other.reserve(key);
        } catch (ReservationConflictException e) {
            throw refused(other, e);
        }
        synchronized (this) {
            others.add(other);
        }
    }

    /** Forgets a device that is not a member any more. */
    public void forget(@Nullable BlockDevice device) {
        heartbeats.forget(device);
    }

    private void rejoin(BlockDevice device) throws StorageException {
        try {
            var fencing = device.fencing();
            if (fencing.isPresent()) {
                fencing.get().rejoin(key);
            }
        } catch (NotSupportedException | InvalidRequestException e) {
            LOG.log(System.Logger.Level.DEBUG, "{0} is not reserved: {1}", device,
                    e.getMessage());
        }
    }

    /** Sets the members to confirm from now on; see {@link Heartbeats#follow}. */
    public void follow(RaidVolume volume) {
        heartbeats.follow(volume);
    }

    private void lose(String why) {
        var failure = new OwnershipLostException(why);
        if (lease.lose(failure)) {
            var _ = heartbeats.stopAll();
            whenLost.accept(failure);
        }
    }

    // --- the end ---

    /** Releases the members once nothing is under way: another process may run the volume at once. Blocks. */
    public void release() {
        OwnerRecord now = mine;
        if (now != null && lease.lost() == null) {
            release(heartbeats.stopAll(), now);
            leaveOthers();
        }
    }

    private void leaveOthers() {
        List<OwnedMember> all;
        synchronized (this) {
            all = List.copyOf(others);
        }
        for (OwnedMember one : all) {
            try {
                one.leave(key);
            } catch (StorageException e) {
                LOG.log(System.Logger.Level.DEBUG, "{0}: {1} stays reserved: {2}", title,
                        one.device, e.getMessage());
            }
        }
    }

    private void release(Collection<OwnedMember> taken, OwnerRecord record) {
        OwnerRecord last = next(record);
        for (OwnedMember one : taken) {
            try {
                one.release(last);
            } catch (StorageException e) {
                LOG.log(System.Logger.Level.DEBUG, "{0}: {1} keeps its owner record: {2}", title,
                        one.device, e.getMessage());
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    /** Ends the ownership: nothing is read or written any more. */
    public void end() {
        var _ = heartbeats.stopAll();
        boolean _ = lease.lose(new DeviceGoneException(title + " is closed"));
        ThisProcess.ends(token);
    }

    private static void closeQuietly(BlockDevice device) {
        try {
            device.close();
        } catch (StorageException _) {
            // It is of no more use.
        }
    }
}
