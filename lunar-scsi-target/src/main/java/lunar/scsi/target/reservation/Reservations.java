package lunar.scsi.target.reservation;

import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.scsi.AdditionalSense;
import lunar.scsi.IllegalRequestException;
import lunar.scsi.Status;
import lunar.scsi.target.Access;
import lunar.scsi.target.Registrant;
import lunar.scsi.target.StateStore;
import lunar.scsi.target.UnitState;
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

    private final StateStore store;
    private final UnitState<ReservationRecord> persistent;

    /** The nexus that has the unit by RESERVE(6) or (10); a new session is a new nexus. */
    private volatile @Nullable Object reservedBy;

    /**
     * @param targetName target of registrations that were saved without one
     * @throws IOException when the saved state cannot be read, so that no command writes past a reservation
     */
    public Reservations(StateStore store, String targetName) throws IOException {
        this.store = store;
        persistent = new UnitState<>(store, NAME, ReservationRecord.NONE,
                format(store.isShared(), targetName));
    }

    private static UnitState.Format<ReservationRecord> format(boolean shared, String targetName) {
        return new UnitState.Format<>() {
            @Override
            public byte[] encode(ReservationRecord record) {
                if (shared) {
                    return ReservationFormat.encode(record);
                }
                return record.state().persistent()
                        ? ReservationFormat.encode(record.state())
                        : new byte[0];
            }

            @Override
            public ReservationRecord decode(byte[] saved) throws IOException {
                return ReservationFormat.decode(saved, targetName);
            }
        };
    }

    /**
     * Begins to follow the changes of other servers, where the store is shared.
     *
     * @throws IOException when the state cannot be read
     */
    public void begin(Follower by) throws IOException {
        persistent.begin((before, after) -> {
            ReservationRecord.Effect effect = after.since(before);
            return by.apply(effect.attentions(), effect.aborted());
        });
    }

    /** Follows no more changes of other servers: the unit is not served any more. */
    public void end() {
        persistent.end();
    }

    ReservationState state() { return persistent.value().state(); }

    StateStore store() { return store; }

    /**
     * Returns the status with which a command of this kind must end: RESERVATION CONFLICT, or BUSY while it is not
     * known whether a reservation holds that other servers may act by already. Null if it may be executed. Read by
     * every command.
     *
     * @param nexus the session
     * @param registrant the nexus as persistent reservations know it
     */
    public @Nullable Status conflict(Object nexus, Registrant registrant, Access access) {
        if (access != Access.FREE && isReservedByOther(nexus)) {
            return Status.RESERVATION_CONFLICT;
        }
        UnitState.View<ReservationRecord> now = persistent.view();
        if (now.value().state().conflicts(registrant, access)) {
            return Status.RESERVATION_CONFLICT;
        }
        ReservationRecord proposed = now.proposed();
        return proposed != null && proposed.state().conflicts(registrant, access)
                ? Status.BUSY
                : null;
    }

    /**
     * Changes the state. Blocks while it is saved, and until other servers that share the unit follow.
     *
     * @param aborted whether the command that asked is aborted, so that it does not wait for changes by others
     * @return what has changed; null for RESERVATION CONFLICT
     */
    ReservationRules.@Nullable Change change(Step step, BooleanSupplier aborted)
            throws StorageException, IllegalRequestException {
        var decided = new AtomicReference<ReservationRules.@Nullable Change>();
        try {
            persistent.change(before -> {
                ReservationRules.Change change = step.change(before.state());
                decided.set(change);
                return change == null ? null : before.after(change);
            }, (before, after) -> before.state().persistent() || after.state().persistent(),
                    aborted);
            return decided.get();
        } catch (StorageException | IllegalRequestException e) {
            throw e;
        } catch (IOException e) {
            throw new DeviceGoneException("reservations cannot be saved: " + e.getMessage(), e);
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
