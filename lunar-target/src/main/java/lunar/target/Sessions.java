package lunar.target;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.iscsi.ConnectionEvent;
import lunar.iscsi.Isid;
import lunar.iscsi.LoginException;
import lunar.iscsi.LoginResult;
import lunar.iscsi.LoginStatus;
import org.jspecify.annotations.Nullable;

/** The normal sessions of a server by initiator port and target (RFC 7143 section 4.4.1). Thread-safe. */
final class Sessions {
    /** What makes a session the same session: one nexus has one (section 4.4.3.1). */
    private record Key(TargetNode target, int group, String initiatorName, Isid isid) {}

    private final Map<Key, Session> sessions = new ConcurrentHashMap<>();
    private volatile SessionLimits limits;
    private final AtomicInteger lastTsih = new AtomicInteger();

    Sessions(SessionLimits limits) { this.limits = limits; }

    /** Has these limits from now on; sessions beyond them go on. */
    void limit(SessionLimits to) {
        limits = to;
    }

    /** A TSIH that no session of now has; never 0. */
    int newTsih() {
        while (true) {
            int tsih = lastTsih.updateAndGet(last -> last % 0xffff + 1);
            if (find(tsih) == null) {
                return tsih;
            }
        }
    }

    @Nullable
    Session find(int tsih) {
        for (Session session : sessions.values()) {
            if (session.login().tsih() == tsih) {
                return session;
            }
        }
        return null;
    }

    /**
     * Puts a new session in the place of one that the same initiator port had: the old one is ended first, and with
     * it its tasks, so that none of them writes after a command of the new one (session reinstatement, section
     * 6.3.5).
     *
     * @return ends when the new session may begin; within the bound, even where a device does not let go
     * @throws LoginException where there is no room for it, or the initiator may not use the target any more
     */
    CompletableFuture<Void> establish(Session session, TargetNode target, long boundMs)
            throws LoginException {
        Session old = put(key(session, target), session);
        if (old == null) {
            return CompletableFuture.completedFuture(null);
        }
        old.terminate("session reinstated by a new login", new ConnectionEvent.Reinstated());
        return old.ended().copy().completeOnTimeout(null, boundMs, TimeUnit.MILLISECONDS);
    }

    private synchronized @Nullable Session put(Key key, Session session) throws LoginException {
        if (!sessions.containsKey(key)) {
            requireRoom(key);
        }
        if (!key.target().join(session)) {
            throw refusal(LoginStatus.AUTHORIZATION_FAILURE,
                    "the target has been taken from the initiator during its login");
        }
        return sessions.put(key, session);
    }

    private void requireRoom(Key key) throws LoginException {
        int atTarget = 0;
        int ofInitiator = 0;
        for (Key other : sessions.keySet()) {
            if (other.target().equals(key.target())) {
                atTarget++;
                ofInitiator += other.initiatorName().equals(key.initiatorName()) ? 1 : 0;
            }
        }
        if (sessions.size() >= limits.perServer() || atTarget >= limits.perTarget()
                || ofInitiator >= limits.perInitiator()) {
            throw refusal(LoginStatus.OUT_OF_RESOURCES, "too many sessions: " + sessions.size()
                    + ", of them " + atTarget + " at the target and " + ofInitiator
                    + " of this initiator");
        }
    }

    private static LoginException refusal(LoginStatus status, String reason) {
        return new LoginException(reason, status.statusClass(), status.detail());
    }

    /** Forgets a session that has ended. */
    void remove(Session session, TargetNode target) {
        sessions.remove(key(session, target), session);
        target.leave(session);
    }

    int count() { return sessions.size(); }

    private static Key key(Session session, TargetNode target) {
        LoginResult login = session.login();
        return new Key(target, login.portalGroupTag(), login.initiatorName(), login.isid());
    }
}
