package lunar.initiator;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import lunar.iscsi.LoginException;
import lunar.iscsi.LoginStatus;

/**
 * Backoff for further connections of a session: the pause doubles each time. An unreachable portal is tried every 10 s
 * at last, a target that refuses the connection for now every five minutes: the pauses after refusals grow by refusals
 * only, so a target that is starting and not ready is asked again soon, however long it was unreachable. A target that
 * refuses for a reason which waiting does not mend, such as failed authentication, is tried a few times only, lest it
 * lock an account; each reason counts for itself. Not thread-safe.
 */
final class JoinBackoff {
    /** In place of a pause: the connection is not to be tried again. */
    static final long NEVER = -1;

    static final int MAX_REFUSALS = 2;
    private static final long FIRST_PAUSE_MS = 100;
    private static final long MAX_PAUSE_MS = 10_000;
    private static final long MAX_REFUSED_PAUSE_MS = 300_000;

    private long nextMs = FIRST_PAUSE_MS;
    private long nextRefusedMs = FIRST_PAUSE_MS;
    /** Number of refusals by lasting reason: status class and detail. */
    private final Map<Integer, Integer> refusals = new HashMap<>();

    /** Returns how long to wait after a login has failed, in milliseconds, or {@link #NEVER}. */
    long afterMs(IOException why) {
        var refused = why instanceof LoginException exception ? exception : null;
        if (refused != null && (isOver(refused)
                || (refused.isLasting() && count(refused) > MAX_REFUSALS))) {
            return NEVER;
        }
        long pauseMs;
        if (refused != null && refused.statusClass() != 0) {
            pauseMs = nextRefusedMs;
            nextRefusedMs = Math.min(2 * nextRefusedMs, MAX_REFUSED_PAUSE_MS);
        } else {
            pauseMs = nextMs;
            nextMs = Math.min(2 * nextMs, MAX_PAUSE_MS);
        }
        return pauseMs;
    }

    /** Counts a refusal; returns how often the target has refused for this reason. */
    private int count(LoginException refused) {
        return refusals.merge(refused.statusClass() << Byte.SIZE | refused.statusDetail(), 1,
                Integer::sum);
    }

    /** Whether the target has no such session any more. */
    private static boolean isOver(LoginException refused) {
        LoginStatus status = LoginStatus.SESSION_DOES_NOT_EXIST;
        return refused.statusClass() == status.statusClass()
                && refused.statusDetail() == status.detail();
    }
}
