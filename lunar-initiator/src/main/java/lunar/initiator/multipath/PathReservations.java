package lunar.initiator.multipath;

import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import lunar.block.DeadlineException;
import lunar.block.DeviceGoneException;
import lunar.block.Fencing;
import lunar.block.InvalidRequestException;
import lunar.block.NotSupportedException;
import lunar.block.ReservationConflictException;
import lunar.block.StorageException;
import lunar.initiator.LunDevice;
import lunar.initiator.scsi.Reservations;
import lunar.initiator.scsi.ScsiUnit;
import lunar.scsi.reservation.ReservationStatus;
import lunar.scsi.reservation.ReservationType;

/**
 * Persistent reservation of a unit over all its paths (SPC-5 section 5.13): each path is an I_T nexus and is registered
 * separately. A path that comes up registers before it is used, and only while the unit still has the key of another
 * path or an earlier session; after the key was removed, the path is not registered.
 */
final class PathReservations implements Fencing {
    private static final ReservationType TYPE = ReservationType.WRITE_EXCLUSIVE_REGISTRANTS_ONLY;
    private static final int TRIES = 4;

    private final String unit;
    private final Supplier<List<LunDevice>> paths;
    /** The key, 0 where there is none; guarded by this, as is the next field. */
    private long key;
    private final Set<LunDevice> registered = new HashSet<>();

    /**
     * @param unit name of the unit, for messages
     * @param paths the unit by all paths that are up now
     */
    PathReservations(String unit, Supplier<List<LunDevice>> paths) {
        this.unit = unit;
        this.paths = paths;
    }

    /** Registers a path that comes up. Blocks. */
    synchronized void admit(LunDevice path) throws StorageException {
        if (key != 0 && !registered.contains(path) && of(path).keys().keys().contains(key)) {
            register(path);
            Optional<ReservationStatus.Held> held = of(path).reservation().held();
            if (held.isPresent() && held.get().key() != key) { // preempted between the look and the registration
                registered.remove(path);
                of(path).registerAnyhow(0);
            }
        }
    }

    @Override
    public synchronized void join(long wanted) throws StorageException {
        if (key != wanted) {
            registered.clear();
        }
        key = wanted;
        boolean done = false;
        try {
            registerAll();
            done = true;
        } finally {
            if (!done && registered.isEmpty()) {
                key = 0;
            }
        }
    }

    @Override
    public synchronized void rejoin(long wanted) throws StorageException {
        if (of(any()).keys().keys().contains(wanted)) {
            join(wanted);
        }
    }

    private void registerAll() throws StorageException {
        List<LunDevice> up = paths.get();
        registered.retainAll(up);
        for (LunDevice path : up) {
            if (!registered.contains(path)) {
                try {
                    register(path);
                } catch (DeviceGoneException | DeadlineException e) {
                    if (up.getLast().equals(path) && registered.isEmpty()) {
                        throw e;
                    }
                }
            }
        }
        var _ = any();
    }

    private void register(LunDevice path) throws StorageException {
        of(path).registerAnyhow(key);
        registered.add(path);
    }

    /** Returns a path by which the unit answers: not one that is just being lost, or in an unavailable port group. */
    private LunDevice any() throws StorageException {
        StorageException last = null;
        for (LunDevice path : paths.get()) {
            try {
                List<Long> _ = of(path).keys().keys();
                return path;
            } catch (DeviceGoneException | DeadlineException e) {
                last = e;
            }
        }
        throw last == null ? new DeviceGoneException(unit + ": no path is up") : last;
    }

    private static Reservations of(LunDevice path) { return ScsiUnit.of(path).reservations(); }

    @Override
    public synchronized void seize(long mine, Keys others) throws StorageException {
        Reservations unitReservations = of(any());
        for (int i = 0;; i++) {
            Optional<ReservationStatus.Held> held = unitReservations.reservation().held();
            if (held.isPresent() && held.get().key() == mine) {
                break;
            }
            try {
                if (held.isEmpty()) {
                    unitReservations.reserve(mine, TYPE);
                } else {
                    requireOurs(held.get(), others);
                    preempt(unitReservations, mine, held.get().key());
                }
            } catch (ReservationConflictException e) { // another host was quicker, or is not to be removed
                if (i == TRIES || (held.isPresent() && !others.contains(held.get().key()))) {
                    throw e;
                }
            }
        }
        for (long other : Set.copyOf(unitReservations.keys().keys())) {
            if (other != mine && others.contains(other)) {
                preempt(unitReservations, mine, other);
            }
        }
    }

    private void requireOurs(ReservationStatus.Held held, Keys others)
            throws ReservationConflictException {
        if (!others.contains(held.key())) {
            throw new ReservationConflictException(unit + " is reserved with the key 0x"
                    + Long.toHexString(held.key()) + ", " + held.type());
        }
    }

    /** Sends PREEMPT AND ABORT, where the unit knows it: no command of the victim is performed afterwards. */
    private static void preempt(Reservations unit, long mine, long victim)
            throws StorageException {
        try {
            unit.preemptAndAbort(mine, victim, TYPE);
        } catch (NotSupportedException | InvalidRequestException _) {
            unit.preempt(mine, victim, TYPE);
        }
    }

    @Override
    public synchronized boolean holds(long mine) throws StorageException {
        Optional<ReservationStatus.Held> held = of(any()).reservation().held();
        if (held.isEmpty()) {
            return false;
        }
        if (held.get().key() != mine) {
            throw new ReservationConflictException(unit + " is reserved with the key 0x"
                    + Long.toHexString(held.get().key()));
        }
        key = mine;
        registerAll();
        return true;
    }

    /** {@inheritDoc} If all registrations have this key, those of ended sessions are removed too. */
    @Override
    public synchronized void leave(long mine) throws StorageException {
        key = 0;
        registered.clear();
        Reservations first = of(any());
        List<Long> keys = first.keys().keys();
        if (!keys.contains(mine)) {
            return;
        }
        if (keys.stream().allMatch(one -> one == mine)) {
            first.clear(mine);
            return;
        }
        for (LunDevice path : paths.get()) {
            of(path).release(mine, TYPE);
            of(path).registerAnyhow(0);
        }
    }
}
