package lunar.initiator.multipath;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import lunar.block.StorageException;
import lunar.initiator.Exchange;
import lunar.initiator.Initiator;
import lunar.initiator.LunDevice;
import lunar.initiator.Session;
import lunar.initiator.SessionOptions;
import lunar.initiator.internal.retry.Backoff;
import lunar.iscsi.LoginException;
import lunar.iscsi.text.SessionEnd;
import lunar.iscsi.text.TargetAddress;

/**
 * Ends a stale session at its target, so that none of its commands is executed any longer: by a login with its ISID,
 * which the target answers after it has ended the old session with its connections and tasks (session reinstatement,
 * RFC 7143 section 6.3.5). Any portal of the session's group can be used, so the failed path is not needed. A Lunar
 * target also ends it on request ({@link SessionEnd}): through another group, and where it refuses the login, because
 * the old session is gone and the initiator has as many sessions as it may have. Nothing else is sufficient: LOGICAL
 * UNIT RESET leaves the session open, with commands still in transit. Blocks; may be used by any thread.
 */
final class SessionFence {
    private static final System.Logger LOG = System.getLogger("lunar.initiator");

    /** T10 vendor of units that Lunar serves. */
    private static final String LUNAR = "LUNAR";

    private static final long FIRST_PAUSE_MS = 10;
    private static final long MAX_PAUSE_MS = 500;

    private final Initiator initiator;
    private final PathSession stale;
    /** Why it could not be ended; an answer of the target says more than a portal that does not answer. */
    private String obstacle = "";
    private boolean isAnswer;

    private SessionFence(Initiator initiator, PathSession stale) {
        this.initiator = initiator;
        this.stale = stale;
    }

    /**
     * Tries the portals at which other sessions are up, then, if requested, the portal of the stale session. If that
     * fails, the stale session {@linkplain PathSession#obstacle says} why.
     *
     * @param up sessions of other paths to the unit
     * @param itself whether to try the stale session's own portal: not where its path logs in there anyway
     * @return whether the session is known to have ended
     */
    static boolean end(Initiator initiator, PathSession stale, List<PathSession> up,
            boolean itself) {
        var fence = new SessionFence(initiator, stale);
        boolean ended = up.stream().anyMatch(fence::endBy)
                || (itself && fence.reinstate(stale.options()));
        if (!ended) {
            stale.notEnded(fence.obstacle);
        }
        return ended;
    }

    /**
     * Returns the Lunar server of a session, for a later request to end it; empty for other targets, which are not
     * queried, because some end the connection on an unknown key.
     */
    static Optional<UUID> serverOf(Session session, LunDevice device) throws StorageException {
        return device.identity().vendor().equals(LUNAR)
                ? SessionEnd.instance(
                        session.start(new Exchange.Text(SessionEnd.question())).await())
                : Optional.empty();
    }

    private boolean endBy(PathSession other) {
        boolean isInGroup = other.isInGroupOf(stale);
        if (isInGroup && reinstate(other.options())) {
            return true;
        }
        if (other.server().isEmpty() || stale.server().isEmpty()) {
            return false;
        }
        if (other.server().equals(stale.server())) {
            return ask(other);
        }
        if (isInGroup) { // a login there would end nothing either
            LOG.log(System.Logger.Level.INFO, "{0} has ended: the server at {1} was started again",
                    stale, other.session().portal());
        }
        return isInGroup;
    }

    /** Asks a server of Lunar to end the session, where the other session leads to the same server. */
    private boolean ask(PathSession by) {
        if (!initiator.name().equals(stale.initiatorName()) || stale.portalGroupTag().isEmpty()) {
            return false;
        }
        var end = new SessionEnd(stale.server().orElseThrow(), stale.isid(),
                stale.portalGroupTag().getAsInt(), stale.options().targetName());
        long untilNanos = System.nanoTime() + 1_000_000L * stale.options().timeouts().loginMs();
        try {
            var backoff = new Backoff(FIRST_PAUSE_MS, MAX_PAUSE_MS);
            while (untilNanos - System.nanoTime() > 0) {
                Optional<SessionEnd.Answer> answer = SessionEnd
                        .answer(by.session().start(new Exchange.Text(end.request())).await());
                if (answer.isEmpty()) {
                    return false;
                }
                if (answer.get() == SessionEnd.Answer.ENDED) {
                    LOG.log(System.Logger.Level.INFO,
                            "{0} has been ended at the target on request, through {1}", stale,
                            by.session().portal());
                    return true;
                }
                Thread.sleep(backoff.nextMs());
            }
        } catch (StorageException e) {
            LOG.log(System.Logger.Level.DEBUG, "{0}: not ended through {1}: {2}", stale, by,
                    e.getMessage());
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        return false;
    }

    /** @param at options of a session at the portal to try, whose transport may be another */
    private boolean reinstate(SessionOptions at) {
        if (!stale.mayBeAt(at)) {
            isInAnotherGroup(at.portal());
            return false;
        }
        if (initiator.name().equals(stale.initiatorName())) {
            return logIn(initiator, at);
        }
        try (var same = Initiator.create(stale.initiatorName())) { // the name is part of the nexus
            return logIn(same, at);
        }
    }

    private boolean logIn(Initiator by, SessionOptions at) {
        TargetAddress portal = at.portal();
        SessionOptions options = stale.options().withTransport(at.scheme()).withTls(at.tls())
                .withPortal(portal).withConnections(1);
        try (Session made = by.loginHere(options, stale.isid())) {
            boolean same = stale.isReinstatedBy(made, stale.isid());
            if (!same) { // another try could end a session that the path has made in that group by then
                stale.isNotAt(at);
                isInAnotherGroup(portal);
            }
            LOG.log(System.Logger.Level.INFO, same
                    ? "{0} has been ended at the target through {1}"
                    : "{0}: not in the portal group of {1}", stale, portal);
            return same;
        } catch (IOException | RuntimeException e) {
            LOG.log(System.Logger.Level.DEBUG, "{0}: not ended through {1}: {2}", stale, portal,
                    e.getMessage());
            failed(String.valueOf(e.getMessage()), e instanceof LoginException);
            return false;
        }
    }

    private void isInAnotherGroup(TargetAddress portal) {
        failed(portal + " answers from another portal group", true);
    }

    private void failed(String why, boolean byAnswer) {
        if (byAnswer || !isAnswer) {
            obstacle = why;
            isAnswer |= byAnswer;
        }
    }
}
