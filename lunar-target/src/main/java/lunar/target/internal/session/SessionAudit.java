package lunar.target.internal.session;

import java.util.Locale;
import lunar.iscsi.login.LoginResult;
import lunar.iscsi.login.OperationalParameters;
import lunar.iscsi.spi.EventLoop;
import lunar.iscsi.text.PeerText;

/**
 * Writes the audit log, {@value #NAME}: a line when a session begins, when a connection joins it, and when it has
 * ended. Confined to the thread of the session's event loop.
 */
final class SessionAudit {
    /** The name of the logger. */
    static final String NAME = "lunar.audit";

    private static final System.Logger LOG = System.getLogger(NAME);

    private final LoginResult login;
    private final EventLoop loop;
    private long beganMs;
    private String peer = "";
    private String why = "";

    /** @param login login of the leading connection */
    SessionAudit(LoginResult login, EventLoop loop) {
        this.login = login;
        this.loop = loop;
    }

    /**
     * Writes that the session has begun with its leading connection.
     *
     * @param peer address of the initiator
     * @param portal where it has connected to
     */
    void began(String peer, String portal) {
        beganMs = loop.nowMs();
        this.peer = peer;
        if (LOG.isLoggable(System.Logger.Level.INFO)) {
            write("login: " + who() + " at " + portal + ": " + negotiated());
        }
    }

    /** Writes that another connection has joined the session. */
    void joined(String from, int cid) {
        if (LOG.isLoggable(System.Logger.Level.INFO)) {
            write("connection: " + who() + ": connection " + cid + " from " + from);
        }
    }

    /** Notes why a connection has ended, in case it is the last one. */
    void left(String reason) {
        why = reason;
    }

    /** Writes that the session, which had begun, has ended. */
    void ended() {
        if (LOG.isLoggable(System.Logger.Level.INFO)) {
            write(String.format(Locale.ROOT, "logout: %s after %.1f s: %s", who(),
                    (loop.nowMs() - beganMs) / 1000.0, why));
        }
    }

    private static void write(String line) { LOG.log(System.Logger.Level.INFO, "{0}", line); }

    private String who() {
        return PeerText.printable(login.initiatorName()) + " (ISID " + login.isid() + ") from "
                + peer + " to " + login.targetName().map(PeerText::printable).orElse("discovery");
    }

    private String negotiated() {
        String user = login.chapUser().map(name -> "CHAP user " + PeerText.printable(name))
                .orElse("no authentication");
        if (login.targetName().isEmpty()) {
            return user;
        }
        OperationalParameters parameters = login.parameters();
        return user + ", header digest " + digest(parameters.headerDigest()) + ", data digest "
                + digest(parameters.dataDigest()) + ", ErrorRecoveryLevel "
                + parameters.errorRecoveryLevel() + ", MaxConnections "
                + parameters.maxConnections();
    }

    private static String digest(boolean isCrc32c) { return isCrc32c ? "CRC32C" : "none"; }
}
