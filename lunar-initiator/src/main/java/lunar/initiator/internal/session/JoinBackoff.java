package lunar.initiator.internal.session;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import lunar.initiator.internal.retry.Backoff;
import lunar.iscsi.LoginException;
import lunar.iscsi.LoginStatus;

/**
 * Backoff for further connections of a session. The pause grows up to 10 s for an unreachable portal, and up to five
 * minutes for a target that rejects the connection temporarily. Pauses after rejections grow by rejections only, so a
 * target that is starting up is retried soon, even after a long outage. A target that rejects for a reason that waiting
 * does not fix, such as failed authentication, is tried a few times only, so that no account is locked; each reason is
 * counted separately. Not thread-safe.
 */
public final class JoinBackoff {
    /** In place of a pause: the connection is not to be tried again. */
    public static final long NEVER = -1;

    public static final int MAX_REFUSALS = 2;
    private static final long FIRST_PAUSE_MS = 100;
    private static final long MAX_PAUSE_MS = 10_000;
    private static final long MAX_REFUSED_PAUSE_MS = 300_000;

    private final Backoff unreachable = new Backoff(FIRST_PAUSE_MS, MAX_PAUSE_MS);
    private final Backoff refused = new Backoff(FIRST_PAUSE_MS, MAX_REFUSED_PAUSE_MS);
    /** Number of refusals by lasting reason: status class and detail. */
    private final Map<Integer, Integer> refusals = new HashMap<>();

    /** Returns how long to wait after a login has failed, in milliseconds, or {@link #NEVER}. */
    public long afterMs(IOException why) {
        if (!(why instanceof LoginException refusal)) {
            return unreachable.nextMs();
        }
        if (isOver(refusal) || (refusal.isLasting() && count(refusal) > MAX_REFUSALS)) {
            return NEVER;
        }
        return (refusal.statusClass() == 0 ? unreachable : refused).nextMs();
    }

    /** Counts a refusal; returns how often the target has refused for this reason. */
    private int count(LoginException refused) {
        return refusals.merge(refused.statusClass() << Byte.SIZE | refused.statusDetail(), 1,
                Integer::sum);
    }

    /** Whether the target has no such session any longer. */
    private static boolean isOver(LoginException refused) {
        LoginStatus status = LoginStatus.SESSION_DOES_NOT_EXIST;
        return refused.statusClass() == status.statusClass()
                && refused.statusDetail() == status.detail();
    }
}
