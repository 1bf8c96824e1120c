package lunar.scsi.target.reservation;

import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import lunar.scsi.AdditionalSense;
import lunar.scsi.reservation.ReservationType;
import lunar.scsi.target.Registrant;
import lunar.scsi.target.reservation.ReservationState.Held;

/** Computes the effects of PERSISTENT RESERVE OUT on a state (SPC-5 section 5.13). Pure functions. */
final class ReservationRules {
    /**
     * The outcome of a service action that succeeds.
     *
     * @param state the new state
     * @param attentions unit attentions by registrant that is told
     * @param aborted registrants that have their tasks aborted
     */
    record Change(ReservationState state, Map<Registrant, AdditionalSense> attentions,
            Set<Registrant> aborted) {
        static Change to(ReservationState state) { return new Change(state, Map.of(), Set.of()); }
    }

    private ReservationRules() {}

    /**
     * REGISTER and REGISTER AND IGNORE EXISTING KEY, of one or several nexuses that were not or all may be registered;
     * a key of 0 unregisters.
     */
    static Change register(ReservationState state, Collection<Registrant> registrant, long key,
            boolean persistent) {
        var keys = new LinkedHashMap<>(state.keys());
        var attentions = new HashMap<Registrant, AdditionalSense>();
        ReservationState now = state;
        for (Registrant one : registrant) {
            if (key != 0) {
                keys.put(one, key);
            } else if (keys.remove(one) != null) {
                now = released(now, one, keys.sequencedKeySet(), attentions);
            }
        }
        return new Change(now.registering(keys).persisting(persistent), attentions, Set.of());
    }

    /** The reservation ends with its last holder; registrants that were let in by it hear of that. */
    private static ReservationState released(ReservationState state, Registrant gone,
            Collection<Registrant> rest, Map<Registrant, AdditionalSense> attentions) {
        if (state.held().isEmpty()) {
            return state;
        }
        Held held = state.held().get();
        boolean lastHolder = held.type().isAllRegistrants()
                ? rest.isEmpty()
                : held.holder().equals(gone);
        if (!lastHolder) {
            return state;
        }
        if (held.type().admitsRegistrants()) {
            rest.forEach(one -> attentions.put(one, AdditionalSense.RESERVATIONS_RELEASED));
        }
        return state.holding(Optional.empty());
    }

    /** RESERVE by a registrant; empty for a conflict. */
    static Optional<Change> reserve(ReservationState state, Registrant registrant,
            ReservationType type) {
        if (state.held().isEmpty()) {
            return Optional.of(Change.to(state.holding(Optional.of(new Held(registrant, type)))));
        }
        return state.isHolder(registrant) && state.held().get().type() == type
                ? Optional.of(Change.to(state))
                : Optional.empty();
    }

    /** RELEASE by a registrant; empty where it holds a reservation of another type. */
    static Optional<Change> release(ReservationState state, Registrant registrant,
            Optional<ReservationType> type) {
        if (!state.isHolder(registrant)) {
            return Optional.of(Change.to(state)); // not an error
        }
        Held held = state.held().orElseThrow();
        if (!type.equals(Optional.of(held.type()))) {
            return Optional.empty();
        }
        var attentions = new HashMap<Registrant, AdditionalSense>();
        if (held.type().admitsRegistrants()) {
            tellOthers(state, registrant, AdditionalSense.RESERVATIONS_RELEASED, attentions);
        }
        return Optional.of(new Change(state.holding(Optional.empty()), attentions, Set.of()));
    }

    /** CLEAR by a registrant. */
    static Change clear(ReservationState state, Registrant registrant) {
        var attentions = new HashMap<Registrant, AdditionalSense>();
        tellOthers(state, registrant, AdditionalSense.RESERVATIONS_PREEMPTED, attentions);
        return new Change(state.registering(Map.of()).holding(Optional.empty()), attentions,
                Set.of());
    }

    private static void tellOthers(ReservationState state, Registrant registrant,
            AdditionalSense what,
            Map<Registrant, AdditionalSense> attentions) {
        for (Registrant other : state.keys().keySet()) {
            if (!other.equals(registrant)) {
                attentions.put(other, what);
            }
        }
    }

    /**
     * PREEMPT and PREEMPT AND ABORT by a registrant (SPC-5 section 5.13.11.2.6).
     *
     * @param key key of the registrations that end; 0 for everyone else's, where all registrants hold the reservation
     * @param type of the reservation that takes the place of the preempted one
     * @param aborts whether the tasks of the preempted end, too
     * @return empty where no registrant has that key
     */
    static Optional<Change> preempt(ReservationState state, Registrant registrant, long key,
            ReservationType type, boolean aborts) {
        Optional<Held> held = state.held();
        boolean everyone = key == 0;
        boolean takesOver = held.isPresent() && (held.get().type().isAllRegistrants()
                ? everyone
                : Objects.equals(state.keys().get(held.get().holder()), key));
        var removed = new LinkedHashSet<Registrant>();
        boolean found = everyone;
        for (var entry : state.keys().entrySet()) {
            if (everyone || entry.getValue() == key) {
                found = true;
                if (!entry.getKey().equals(registrant)) {
                    removed.add(entry.getKey());
                }
            }
        }
        if (!found) {
            return Optional.empty();
        }
        var attentions = new HashMap<Registrant, AdditionalSense>();
        var keys = new LinkedHashMap<>(state.keys());
        removed.forEach(one -> {
            keys.remove(one);
            attentions.put(one, AdditionalSense.REGISTRATIONS_PREEMPTED);
        });
        ReservationState now = state.registering(keys);
        if (takesOver) {
            if (held.get().type() != type) {
                for (Registrant rest : keys.keySet()) {
                    if (!rest.equals(registrant)) {
                        attentions.put(rest, AdditionalSense.RESERVATIONS_RELEASED);
                    }
                }
            }
            now = now.holding(Optional.of(new Held(registrant, type)));
        }
        return Optional.of(new Change(now, attentions, aborts ? Set.copyOf(removed) : Set.of()));
    }

    /** REGISTER AND MOVE by the holder: the reservation goes to another nexus, which is registered by it. */
    static Change move(ReservationState state, Registrant registrant, Registrant to, long key,
            boolean unregister, boolean persistent) {
        var keys = new LinkedHashMap<>(state.keys());
        keys.put(to, key);
        if (unregister) {
            keys.remove(registrant);
        }
        Held held = new Held(to, state.held().orElseThrow().type());
        return Change.to(state.registering(keys).holding(Optional.of(held)).persisting(persistent));
    }
}
