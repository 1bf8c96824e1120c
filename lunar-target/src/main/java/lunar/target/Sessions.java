package lunar.target;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.iscsi.ConnectionEvent;
import lunar.iscsi.Isid;
import lunar.iscsi.LoginResult;
import org.jspecify.annotations.Nullable;

/** The normal sessions of a server by initiator port and target (RFC 7143 section 4.4.1). Thread-safe. */
final class Sessions {
    /** What makes a session the same session: one nexus has one (section 4.4.3.1). */
    private record Key(TargetNode target, String initiatorName, Isid isid) {}

    private final Map<Key, Session> sessions = new ConcurrentHashMap<>();
    private final AtomicInteger lastTsih = new AtomicInteger();

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
     */
    CompletableFuture<Void> establish(Session session, TargetNode target, long boundMs) {
        Session old = sessions.put(key(session, target), session);
        target.sessions().add(session);
        target.device().begin(session.nexus());
        if (old == null) {
            return CompletableFuture.completedFuture(null);
        }
        old.terminate("session reinstated by a new login", new ConnectionEvent.Reinstated());
        return old.ended().copy().completeOnTimeout(null, boundMs, TimeUnit.MILLISECONDS);
    }

    /** Forgets a session that has ended. */
    void remove(Session session, TargetNode target) {
        sessions.remove(key(session, target), session);
        target.sessions().remove(session);
        target.device().end(session.nexus());
    }

    int count() { return sessions.size(); }

    private static Key key(Session session, TargetNode target) {
        LoginResult login = session.login();
        return new Key(target, login.initiatorName(), login.isid());
    }
}
