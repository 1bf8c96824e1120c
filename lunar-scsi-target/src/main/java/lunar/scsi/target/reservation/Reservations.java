package lunar.scsi.target.reservation;

import java.io.IOException;
import java.util.concurrent.locks.ReentrantLock;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.scsi.IllegalRequestException;
import lunar.scsi.target.Access;
import lunar.scsi.target.Registrant;
import lunar.scsi.target.StateStore;
import org.jspecify.annotations.Nullable;

/**
 * The reservations of one logical unit, persistent ones and those of RESERVE (SPC-5 section 5.13, SPC-2 section 5.5.1).
 * A state that outlives a loss of power is on stable storage before any command sees it. Thread-safe: commands read one
 * immutable state; changes come one after another.
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

    private final StateStore store;
    private final ReentrantLock changing = new ReentrantLock();
    private volatile ReservationState state;

    /** The nexus that has the unit by RESERVE(6) or (10); a new session is a new nexus. */
    private volatile @Nullable Object reservedBy;

    /**
     * @param targetName target of registrations that were saved without one
     * @throws IOException when the saved state cannot be read, so that no command writes past a reservation
     */
    public Reservations(StateStore store, String targetName) throws IOException {
        this.store = store;
        var saved = store.load(NAME);
        state = saved.isPresent() && saved.get().length > 0
                ? ReservationFormat.decode(saved.get(), targetName)
                : ReservationState.NONE;
    }

    ReservationState state() { return state; }

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
        ReservationState now = state;
        return now.held().isPresent() && now.conflicts(registrant, access);
    }

    /**
     * Changes the state. Blocks while it is saved.
     *
     * @return what has changed; null for RESERVATION CONFLICT
     */
    ReservationRules.@Nullable Change change(Step step)
            throws StorageException, IllegalRequestException {
        changing.lock();
        try {
            ReservationState before = state;
            ReservationRules.Change change = step.change(before);
            if (change == null) {
                return null;
            }
            ReservationState after = change.state();
            if (after.persistent()) {
                save(ReservationFormat.encode(after));
            } else if (before.persistent()) {
                save(new byte[0]);
            }
            state = after;
            return change;
        } finally {
            changing.unlock();
        }
    }

    private void save(byte[] bytes) throws DeviceGoneException {
        try {
            store.save(NAME, bytes);
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
