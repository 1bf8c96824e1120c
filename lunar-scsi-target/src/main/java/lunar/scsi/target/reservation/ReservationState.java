package lunar.scsi.target.reservation;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import lunar.scsi.reservation.ReservationType;
import lunar.scsi.target.Access;
import lunar.scsi.target.Registrant;

/**
 * The registrations at a logical unit and its reservation (SPC-5 section 5.13). Immutable; {@link ReservationRules}
 * makes the next state.
 *
 * @param generation PRGENERATION: how often registrations have changed since the unit was made, modulo 2^32
 * @param keys registered keys, in the order of their registration
 * @param held the reservation
 * @param persistent whether all of it is kept through a loss of power (APTPL)
 */
record ReservationState(long generation, SequencedMap<Registrant, Long> keys, Optional<Held> held,
        boolean persistent) {
    /**
     * A reservation.
     *
     * @param holder the registrant that made it; with types of all registrants every registrant holds it
     * @param type TYPE
     */
    record Held(Registrant holder, ReservationType type) {}

    static final ReservationState NONE = new ReservationState(0, new LinkedHashMap<>(),
            Optional.empty(), false);

    private static final long GENERATIONS = 1L << 32;

    ReservationState {
        keys = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(keys));
    }

    boolean isRegistered(Registrant registrant) { return keys.containsKey(registrant); }

    /** Whether a registrant has registered exactly this key. */
    boolean hasKey(Registrant registrant, long key) {
        return Objects.equals(keys.get(registrant), key);
    }

    /** Whether a registrant holds the reservation. */
    boolean isHolder(Registrant registrant) {
        return held.isPresent() && (held.get().type().isAllRegistrants()
                ? isRegistered(registrant)
                : held.get().holder().equals(registrant));
    }

    /** Whether a command of this kind conflicts with the reservation (SPC-5 section 5.13.1). */
    boolean conflicts(Registrant registrant, Access access) {
        if (held.isEmpty() || access == Access.FREE || access == Access.READY
                || isHolder(registrant)) {
            return false;
        }
        ReservationType type = held.get().type();
        boolean admitted = (type.admitsRegistrants() && isRegistered(registrant))
                || (type.admitsReads() && (access == Access.READ || access == Access.INFORM));
        return !admitted;
    }

    /** Returns this state with other registrations, which counts as a new generation. */
    ReservationState registering(Map<Registrant, Long> changed) {
        return new ReservationState((generation + 1) % GENERATIONS, new LinkedHashMap<>(changed),
                held, persistent);
    }

    ReservationState holding(Optional<Held> now) {
        return new ReservationState(generation, keys, now, persistent);
    }

    ReservationState persisting(boolean now) {
        return new ReservationState(generation, keys, held, now);
    }
}
