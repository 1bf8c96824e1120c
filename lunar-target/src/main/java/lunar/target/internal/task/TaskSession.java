package lunar.target.internal.task;

import java.util.List;
import lunar.iscsi.login.LoginResult;
import lunar.iscsi.session.CommandWindow;
import lunar.iscsi.spi.EventLoop;
import lunar.scsi.target.Nexus;
import lunar.scsi.target.ScsiTarget;

/** View of a session for the handling of its tasks. Confined to the event loop's thread. */
public interface TaskSession {
    /** The lowest iSCSIProtocolLevel with priorities, queries and status qualifiers. */
    int RFC_7144 = 2;

    /** Returns the result of the leading login. */
    LoginResult login();

    /** Whether this is a discovery session, which has no target, nexus and commands. */
    boolean isDiscovery();

    /** Returns the I_T nexus that the session is. Not to be called in a discovery session. */
    Nexus nexus();

    /** Returns the SCSI target device. Not to be called in a discovery session. */
    ScsiTarget device();

    EventLoop loop();

    CommandWindow window();

    /** Returns the open connections. */
    List<? extends TaskConnection> taskConnections();

    /** Ends the session if it has no connection, open or lost, and no task. */
    void endIfDone();

    /** Returns the negotiated ErrorRecoveryLevel (RFC 7143 section 13.20). */
    default int recoveryLevel() {
        return login().parameters().errorRecoveryLevel();
    }

    /** Whether at least this iSCSIProtocolLevel is negotiated (RFC 7144 section 7.1.1). */
    default boolean hasLevel(int level) {
        return login().parameters().protocolLevel() >= level;
    }
}
