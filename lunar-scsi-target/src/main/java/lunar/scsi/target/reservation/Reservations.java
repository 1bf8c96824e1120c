package lunar.scsi.target.reservation;

import java.io.IOException;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import lunar.block.BusyException;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.scsi.AdditionalSense;
import lunar.scsi.IllegalRequestException;
import lunar.scsi.target.Access;
import lunar.scsi.target.Registrant;
import lunar.scsi.target.StateStore;
import org.jspecify.annotations.Nullable;

/**
 * The reservations of one logical unit, persistent ones and those of RESERVE (SPC-5 section 5.13, SPC-2 section 5.5.1).
 * A state that outlives a loss of power is on stable storage before any command sees it. Servers that share the unit
 * share its persistent reservations through the store. Thread-safe: commands read one immutable state; changes come one
 * after another.
 */
public final class Reservations {
    /** Most registrations. */
    static final int MAX_REGISTRATIONS = 1024;

    private static final String NAME = "reservations";

    /** A change of the state; may refuse. */
    @FunctionalInterface
    interface Step {
        /** @return null for RESERVATION CONFLICT */
        ReservationRules.@Nullable Change change(ReservationState state)
                throws IllegalRequestException;
    }

    /** Applies the effects of a change by another server to the nexuses of this one. */
    @FunctionalInterface
    public interface Follower {
        /**
         * @param attentions unit attentions by the registrant that is told
         * @param preempted registrants that have their tasks aborted
         * @return ends when the last of these tasks has ended
         */
        CompletableFuture<Void> apply(Map<Registrant, AdditionalSense> attentions,
                Set<Registrant> preempted);
    }

    /** The reservations as they are in the store. */
    private record Current(long version, ReservationRecord record) {}

    /** How often a change is tried that others forestall. */
    private static final int MAX_TRIES = 64;

    private final StateStore store;
    private final String targetName;
    private final ReentrantLock changing = new ReentrantLock();
    /** Replaced with the lock of {@link #installing}, only by a later version. */
    private volatile Current current;
    private final Object installing = new Object();
    private volatile StateStore.@Nullable Subscription subscription;
    private volatile @Nullable Follower follower;
    /** Ends when what other servers have changed has had its effect; guarded by {@link #installing}. */
    private CompletableFuture<Void> followed = CompletableFuture.completedFuture(null);

    /** The nexus that has the unit by RESERVE(6) or (10); a new session is a new nexus. */
    private volatile @Nullable Object reservedBy;

    /**
     * @param targetName target of registrations that were saved without one
     * @throws IOException when the saved state cannot be read, so that no command writes past a reservation
     */
    public Reservations(StateStore store, String targetName) throws IOException {
        this.store = store;
        this.targetName = targetName;
        current = read();
    }

    private Current read() throws IOException {
        StateStore.Saved saved = store.read(NAME);
        if (saved.state().length() == 0) {
            return new Current(saved.version(), ReservationRecord.NONE);
        }
        return new Current(saved.version(),
                ReservationFormat.decode(saved.state().toArray(), targetName));
    }

    /**
     * Begins to follow the changes of other servers, where the store is shared.
     *
     * @throws IOException when the state cannot be read
     */
    public void begin(Follower by) throws IOException {
        if (!store.isShared()) {
            return;
        }
        follower = by;
        subscription = store.subscribe(name -> name.equals(NAME)
                ? follow()
                : CompletableFuture.completedFuture(null));
        try {
            takeOver(); // what has changed since it was read
        } catch (IOException e) {
            end();
            throw e;
        }
    }

    /** Follows no more changes of other servers: the unit is not served any more. */
    public void end() {
        StateStore.Subscription mine = subscription;
        if (mine != null) {
            mine.close();
        }
    }

    ReservationState state() { return current.record().state(); }

    StateStore store() { return store; }

    /**
     * Whether a command of this kind must end with RESERVATION CONFLICT. Read by every command.
     *
     * @param nexus the session
     * @param registrant the nexus as persistent reservations know it
     */
    public boolean conflict(Object nexus, Registrant registrant, Access access) {
        if (access != Access.FREE && isReservedByOther(nexus)) {
            return true;
        }
        ReservationState now = state();
        return now.held().isPresent() && now.conflicts(registrant, access);
    }

    /**
     * Changes the state. Blocks while it is saved, and until other servers that share the unit follow.
     *
     * @return what has changed; null for RESERVATION CONFLICT
     */
    ReservationRules.@Nullable Change change(Step step)
            throws StorageException, IllegalRequestException {
        changing.lock();
        try {
            for (int tries = 0; tries < MAX_TRIES; tries++) {
                Current before = current;
                ReservationRules.Change change = step.change(before.record().state());
                if (change == null || saveOrTakeOver(before, before.record().after(change))) {
                    return change;
                }
            }
            throw new BusyException("other servers keep changing the reservations");
        } finally {
            changing.unlock();
        }
    }

    /** Saves a new state; returns false where another server has changed it, after that change was taken over. */
    private boolean saveOrTakeOver(Current before, ReservationRecord after)
            throws DeviceGoneException {
        try {
            if (save(before, after)) {
                return true;
            }
            takeOver();
            return false;
        } catch (IOException e) {
            throw new DeviceGoneException("reservations cannot be saved: " + e.getMessage(), e);
        }
    }

    /** Saves a new state; false where another server has changed it. */
    private boolean save(Current before, ReservationRecord after) throws IOException {
        boolean kept = after.state().persistent() || store.isShared();
        long version = before.version();
        if (kept || before.record().state().persistent()) {
            OptionalLong saved = store.replace(NAME, version, !kept
                    ? new byte[0]
                    : store.isShared()
                            ? ReservationFormat.encode(after)
                            : ReservationFormat.encode(after.state()));
            if (saved.isEmpty()) {
                return false;
            }
            version = saved.getAsLong();
        }
        synchronized (installing) {
            if (current.version() <= version) { // else it has been taken over, with later changes
                current = new Current(version, after);
            }
        }
        return true;
    }

    private CompletableFuture<Void> follow() {
        try {
            takeOver();
        } catch (IOException e) {
            return CompletableFuture.failedFuture(e);
        }
        synchronized (installing) {
            return followed;
        }
    }

    /** Takes over what other servers have changed; {@link #followed} ends when that has had its effect here. */
    private void takeOver() throws IOException {
        ReservationRecord.Effect effect;
        var ended = new CompletableFuture<Void>();
        synchronized (installing) {
            Current saved = read();
            if (saved.version() <= current.version()) {
                return;
            }
            effect = saved.record().since(current.record());
            current = saved;
            followed = CompletableFuture.allOf(followed, ended);
        }
        Follower here = follower;
        if (here == null) { // no nexus has the unit yet
            ended.complete(null);
            return;
        }
        try {
            var _ = here.apply(effect.attentions(), effect.aborted()).whenComplete((_, failure) -> {
                if (failure == null) {
                    ended.complete(null);
                } else {
                    ended.completeExceptionally(failure);
                }
            });
        } catch (RuntimeException | Error e) {
            ended.completeExceptionally(e);
            throw e;
        }
    }

    // --- RESERVE and RELEASE (SPC-2) ---

    /** Whether another nexus has the unit by RESERVE. */
    boolean isReservedByOther(Object nexus) {
        Object reserved = reservedBy;
        return reserved != null && !reserved.equals(nexus);
    }

    /** Reserves for a nexus; false where another has it. */
    synchronized boolean reserve(Object nexus) {
        if (isReservedByOther(nexus)) {
            return false;
        }
        reservedBy = nexus;
        return true;
    }

    /** Releases what a nexus has reserved, if it has. */
    public synchronized void release(Object nexus) {
        if (nexus.equals(reservedBy)) {
            reservedBy = null;
        }
    }

    /** Resets the unit: ends what RESERVE began; persistent reservations stay. */
    public synchronized void reset() {
        reservedBy = null;
    }
}
