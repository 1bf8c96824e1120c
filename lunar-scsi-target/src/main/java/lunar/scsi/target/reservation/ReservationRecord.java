package lunar.scsi.target.reservation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import lunar.scsi.AdditionalSense;
import lunar.scsi.target.Registrant;
import lunar.scsi.target.reservation.ReservationRules.Change;

/**
 * Saved form of the reservations of a unit that several servers share: the state, and the effects of its last changes,
 * which each server applies to its nexuses. Immutable.
 *
 * @param changes number of changes so far
 * @param last the last changes, oldest first
 */
record ReservationRecord(ReservationState state, long changes, List<Effect> last) {
    /** How many changes are kept: more than servers can have under way. */
    static final int MAX_KEPT = 16;

    static final ReservationRecord NONE = new ReservationRecord(ReservationState.NONE, 0,
            List.of());

    /**
     * Effect of a change on nexuses.
     *
     * @param number of the change, counted from 1
     */
    record Effect(long number, Map<Registrant, AdditionalSense> attentions,
            Set<Registrant> aborted) {}

    ReservationRecord {
        last = List.copyOf(last);
    }

    /** Returns the record after a change. */
    ReservationRecord after(Change change) {
        var kept = new ArrayList<>(last.subList(Math.max(0, last.size() + 1 - MAX_KEPT),
                last.size()));
        kept.add(new Effect(changes + 1, change.attentions(), change.aborted()));
        return new ReservationRecord(change.state(), changes + 1, kept);
    }

    /**
     * Returns what has become of nexuses since an earlier record. Where changes are no longer kept, a registrant that
     * is gone counts as preempted, with its tasks.
     */
    Effect since(ReservationRecord before) {
        var attentions = new HashMap<Registrant, AdditionalSense>();
        var aborted = new HashSet<Registrant>();
        long first = last.isEmpty() ? changes + 1 : last.getFirst().number();
        if (first > before.changes + 1) {
            for (Registrant one : before.state.keys().keySet()) {
                if (!state.isRegistered(one)) {
                    attentions.put(one, AdditionalSense.REGISTRATIONS_PREEMPTED);
                    aborted.add(one);
                }
            }
        }
        for (Effect effect : last) {
            if (effect.number > before.changes) {
                attentions.putAll(effect.attentions);
                aborted.addAll(effect.aborted);
            }
        }
        return new Effect(changes, attentions, aborted);
    }
}
