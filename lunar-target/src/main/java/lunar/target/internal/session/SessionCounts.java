package lunar.target.internal.session;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/**
 * Counts sessions by target, by initiator at a target, and by origin, so that a login below the limits need not scan
 * all sessions. Not thread-safe.
 */
final class SessionCounts {
    private record Initiator(TargetNode target, String name) {}

    private final Map<Object, Integer> counts = new HashMap<>();

    /** Counts a session that has begun. */
    void add(Session session, TargetNode target) {
        counts.merge(target, 1, Integer::sum);
        counts.merge(initiator(session, target), 1, Integer::sum);
        counts.merge(session.origin(), 1, Integer::sum);
    }

    /** Stops counting a session that was added. */
    void remove(Session session, TargetNode target) {
        decrement(target);
        decrement(initiator(session, target));
        decrement(session.origin());
    }

    private void decrement(Object key) {
        counts.compute(key, (_, count) -> {
            int left = Objects.requireNonNull(count) - 1;
            return left == 0 ? null : left;
        });
    }

    int at(TargetNode target) { return of(target); }

    /** Counts the sessions at a target of the initiator of a session. */
    int ofInitiator(Session session, TargetNode target) {
        return of(initiator(session, target));
    }

    int from(Origin origin) { return of(origin); }

    private int of(Object key) { return counts.getOrDefault(key, 0); }

    private static Initiator initiator(Session session, TargetNode target) {
        return new Initiator(target, session.login().initiatorName());
    }
}
