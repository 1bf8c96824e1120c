package lunar.target.internal.session;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import lunar.iscsi.LoginException;
import lunar.iscsi.LoginStatus;
import lunar.iscsi.login.ChapPolicy;
import lunar.iscsi.login.LoginResult;
import lunar.iscsi.login.Secret;
import lunar.iscsi.pdu.Isid;
import lunar.iscsi.session.ConnectionEvent;
import lunar.iscsi.text.SessionEnd;
import lunar.target.InitiatorSpec;
import lunar.target.SessionLimits;
import lunar.target.TargetSpec;
import org.jspecify.annotations.Nullable;

/** The normal sessions of a server by initiator port and target (RFC 7143 section 4.4.1). Thread-safe. */
public final class Sessions {
    private static final System.Logger LOG = System.getLogger("lunar.target");

    /**
     * Identity of a nexus, which has at most one session (section 4.4.3.1). It has the name of the target, not the
     * node: a session of a removed target may still end when a target of this name is added again.
     */
    private record Key(String targetName, OptionalInt group, String initiatorName, Isid isid) {}

    /** Changed together with {@link #counts}, guarded by this. */
    private final Map<Key, Session> sessions = new ConcurrentHashMap<>();
    /** Counts of {@link #sessions}; guarded by this. */
    private final SessionCounts counts = new SessionCounts();
    /** Sessions ended to free a slot that have not ended yet; no new session replaces them before they have. */
    private final Map<Key, Session> leaving = new ConcurrentHashMap<>();
    private final Map<Integer, Session> byTsih = new ConcurrentHashMap<>();
    private final Tsihs tsihs = new Tsihs();
    private volatile SessionLimits limits;
    private final LoggedInConnections loggedIn;
    private final Drains drains;
    private final UUID instance = UUID.randomUUID();

    Sessions(SessionLimits limits, LoggedInConnections loggedIn, Drains drains) {
        this.limits = limits;
        this.loggedIn = loggedIn;
        this.drains = drains;
    }

    /** Replaces the limits; existing sessions beyond them continue. */
    void limit(SessionLimits to) {
        limits = to;
    }

    SessionLimits limits() { return limits; }

    /** Claims a TSIH for a session that is about to begin, until {@link #releaseTsih}; empty if none is left. */
    OptionalInt claimTsih() {
        return tsihs.claim();
    }

    /** Releases the TSIH of a session that has ended. */
    void releaseTsih(int tsih) {
        tsihs.release(tsih);
    }

    /** Returns the session of a TSIH that connections may join, or null. */
    @Nullable
    public Session find(int tsih) { return byTsih.get(tsih); }

    /**
     * Adds a new session, in place of an old one of the same initiator port: the old session is ended first, with its
     * tasks, so that none of them writes after a command of the new session (session reinstatement, section
     * 6.3.5). The old session may be one of a removed target of the same name.
     *
     * @param whenOver run after the old session has ended, if the new one could not begin
     * @return completes within the bound with whether the new session may begin. It may not if commands of the old one
     *        continue that can be neither ended nor fenced; the new session then ends together with the old one
     * @throws LoginException if a limit is reached, the initiator has lost access to the target, or the target is being
     *         drained
     */
    CompletableFuture<Boolean> establish(Session session, TargetNode target, long boundMs,
            Runnable whenOver) throws LoginException {
        Session old = put(key(session, target), session, target);
        if (old == null) {
            return CompletableFuture.completedFuture(true);
        }
        old.terminate("session reinstated by a new login", new ConnectionEvent.Reinstated());
        return old.ended().thenApply(_ -> true)
                .completeOnTimeout(false, boundMs, TimeUnit.MILLISECONDS)
                .whenComplete((free, _) -> {
                    if (!free) {
                        var _ = old.ended().thenRun(whenOver);
                    }
                });
    }

    /** Whether a new session would replace one with open connections. */
    boolean replacesConnections(Session session, TargetNode target) {
        Session old = sessions.get(key(session, target));
        return old != null && !old.isKept();
    }

    /** Whether an origin has reached its connection limit; each kept session reserves one connection. */
    synchronized boolean isShareTaken(Origin origin) {
        if (loggedIn.of(origin) + counts.from(origin) < loggedIn.mostOfOrigin()) {
            return false; // even if it has kept sessions
        }
        long kept = sessions.values().stream()
                .filter(session -> session.isKept() && session.origin().equals(origin)).count();
        return loggedIn.of(origin) + kept >= loggedIn.mostOfOrigin();
    }

    /** Returns the session limit of an origin; each connection beyond the first of a session counts as a session. */
    private int mostSessions(Origin origin) {
        int left = loggedIn.mostOfOrigin() - loggedIn.of(origin);
        if (left > counts.from(origin)) { // even if all of its connections were further ones
            return limits.perAddress();
        }
        long open = sessions.values().stream()
                .filter(session -> !session.isKept() && session.origin().equals(origin)).count();
        long further = Math.max(0, loggedIn.of(origin) - open);
        return (int) Math.min(limits.perAddress(), loggedIn.mostOfOrigin() - further);
    }

    /** Returns the handler of requests by an initiator to end its other sessions. */
    SessionEnd.Server ends(Session asking) {
        return new SessionEnd.Server() {
            @Override
            public UUID instance() { return instance; }

            @Override
            public Optional<SessionEnd.Answer> end(SessionEnd asked) {
                return Sessions.this.end(asking, asked);
            }
        };
    }

    /**
     * Ends another session of an initiator that was lost in an unreachable portal group, where session reinstatement
     * cannot end it.
     */
    private Optional<SessionEnd.Answer> end(Session asking, SessionEnd asked) {
        String initiator = asking.login().initiatorName();
        for (var entry : Stream.concat(leaving.entrySet().stream(), sessions.entrySet().stream())
                .toList()) {
            Key key = entry.getKey();
            if (key.group().equals(OptionalInt.of(asked.portalGroupTag()))
                    && key.isid().equals(asked.isid())
                    && key.initiatorName().equals(initiator)
                    && key.targetName().equals(InitiatorSpec.normal(asked.targetName()))
                    && !entry.getValue().equals(asking)) {
                if (!mayEnd(asking, entry.getValue())) {
                    return Optional.empty();
                }
                entry.getValue().terminate("ended by its initiator through another portal group",
                        new ConnectionEvent.Reinstated());
                return Optional.of(SessionEnd.Answer.ENDING);
            }
        }
        return Optional.of(SessionEnd.Answer.ENDED);
    }

    private static boolean mayEnd(Session asking, Session other) {
        TargetNode by = target(asking);
        TargetNode at = target(other);
        return by.equals(at)
                ? asking.login().chapUser().equals(other.login().chapUser())
                : mayEnd(asking.login(), by.spec(), at.spec());
    }

    /**
     * Whether a login at one target satisfies the authentication that another target requires of the same initiator:
     * none, or the same secret. An initiator name without the secret is no proof of identity.
     */
    public static boolean mayEnd(LoginResult login, TargetSpec by, TargetSpec at) {
        Optional<ChapPolicy> asked = at.chap(login.initiatorName());
        if (asked.isEmpty()) {
            return true;
        }
        Optional<Secret> proved = login.chapUser().flatMap(
                user -> by.chap(login.initiatorName()).flatMap(own -> own.secrets().apply(user)));
        return proved.isPresent()
                && proved.equals(asked.get().secrets().apply(login.chapUser().orElseThrow()));
    }

    private synchronized @Nullable Session put(Key key, Session session, TargetNode target)
            throws LoginException {
        if (drains.covers(target)) {
            throw refusal(LoginStatus.SERVICE_UNAVAILABLE, Drains.REFUSAL);
        }
        Session replaced = sessions.get(key);
        if (replaced == null || !target(replaced).equals(target)) {
            makeRoom(session, target, replaced == null);
        }
        if (!target.join(session)) {
            throw refusal(LoginStatus.AUTHORIZATION_FAILURE,
                    "the initiator lost access to the target during its login");
        }
        Session old = sessions.put(key, session);
        if (old != null) {
            counts.remove(old, target(old));
            byTsih.remove(old.login().tsih(), old);
        }
        counts.add(session, target);
        byTsih.put(session.login().tsih(), session);
        return old == null ? leaving.get(key) : old;
    }

    /**
     * Ends kept sessions to stay within the limits, narrowest limit first, because ending a session also helps the
     * wider limits.
     *
     * @param another whether the server gets one more session; otherwise it replaces one of a removed target, which
     *        counts at that target
     */
    private void makeRoom(Session wanted, TargetNode target, boolean another)
            throws LoginException {
        if (another) {
            Origin origin = wanted.origin();
            makeRoom("from " + origin, counts.from(origin), mostSessions(origin),
                    one -> one.getValue().origin().equals(origin));
        }
        String initiatorName = wanted.login().initiatorName();
        makeRoom("of this initiator at the target", counts.ofInitiator(wanted, target),
                limits.perInitiator(),
                one -> target(one.getValue()).equals(target)
                        && one.getKey().initiatorName().equals(initiatorName));
        makeRoom("at the target", counts.at(target), limits.perTarget(),
                one -> target(one.getValue()).equals(target));
        if (another) {
            makeRoom("in all", sessions.size(), limits.perServer(), _ -> true);
        }
    }

    private void makeRoom(String where, int count, int most,
            Predicate<Map.Entry<Key, Session>> which) throws LoginException {
        if (count < most) {
            return;
        }
        List<Map.Entry<Key, Session>> there = sessions.entrySet().stream().filter(which).toList();
        Map.Entry<Key, Session> kept = leastWanted(there).orElseThrow(() -> refusal(
                LoginStatus.OUT_OF_RESOURCES,
                "too many sessions or connections: " + there.size() + " sessions " + where));
        Session session = kept.getValue();
        LOG.log(System.Logger.Level.INFO,
                "ending the kept session of {0}, which has no connection: there are {1} "
                        + "sessions {2}",
                session, there.size(), where);
        leaving.put(kept.getKey(), session);
        var _ = session.ended().thenRun(() -> leaving.remove(kept.getKey(), session));
        forget(kept.getKey(), session);
        byTsih.remove(session.login().tsih(), session);
        session.terminate("ended in favor of a new session", new ConnectionEvent.SessionClosed());
    }

    /** Returns the session to end: the longest kept session of the origin with most kept sessions. */
    private static Optional<Map.Entry<Key, Session>> leastWanted(
            List<Map.Entry<Key, Session>> among) {
        List<Map.Entry<Key, Session>> kept = among.stream().filter(one -> one.getValue().isKept())
                .toList();
        Map<Origin, Long> counts = kept.stream().collect(Collectors
                .groupingBy(one -> one.getValue().origin(), Collectors.counting()));
        return kept.stream().min(Comparator.<Map.Entry<Key, Session>>comparingLong(
                one -> -counts.getOrDefault(one.getValue().origin(), 0L))
                .thenComparingLong(one -> one.getValue().keptSinceMs()));
    }

    private static LoginException refusal(LoginStatus status, String reason) {
        return new LoginException(reason, status.statusClass(), status.detail());
    }

    /** Removes a session that has ended. */
    void remove(Session session, TargetNode target) {
        forget(key(session, target), session);
        byTsih.remove(session.login().tsih(), session);
        target.leave(session);
    }

    private synchronized void forget(Key key, Session session) {
        if (sessions.remove(key, session)) {
            counts.remove(session, target(session));
        }
    }

    public int count() { return sessions.size(); }

    /** Returns the sessions of the targets that are being drained, also those that are about to begin. */
    public synchronized List<Session> drained() {
        return sessions.values().stream().filter(session -> drains.covers(target(session)))
                .toList();
    }

    /** Returns the sessions of a target, also those that are about to begin. */
    public synchronized List<Session> of(TargetNode target) {
        return sessions.values().stream().filter(session -> target(session).equals(target))
                .toList();
    }

    private static Key key(Session session, TargetNode target) {
        LoginResult login = session.login();
        return new Key(target.spec().name(), login.portalGroupTag(), login.initiatorName(),
                login.isid());
    }

    /** Returns the target of a normal session. */
    private static TargetNode target(Session session) {
        return Objects.requireNonNull(session.target());
    }
}
