package lunar.target.status;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import lunar.iscsi.login.LoginResult;
import lunar.iscsi.login.OperationalParameters;
import lunar.iscsi.pdu.Isid;

/**
 * A normal session that has begun.
 *
 * @param tsih its TSIH, which no other session has at the same time
 * @param login result of its leading login
 * @param since when it has begun
 * @param connections its open connections, by CID; none while it is kept for an initiator that may come back
 * @param commands its commands at all units
 */
public record SessionStatus(int tsih, LoginResult login, Instant since,
        List<ConnectionStatus> connections, CommandCounts commands) {
    public SessionStatus {
        connections = List.copyOf(connections);
    }

    /** Returns the initiator name. */
    public String initiatorName() {
        return login.initiatorName();
    }

    /** Returns the ISID. */
    public Isid isid() { return login.isid(); }

    /** Returns the name of the target. */
    public String targetName() {
        return login.targetName().orElseThrow();
    }

    /** Returns the CHAP user; empty if the initiator was not authenticated. */
    public Optional<String> chapUser() {
        return login.chapUser();
    }

    /** Returns the negotiated parameters of the session and its leading connection. */
    public OperationalParameters parameters() {
        return login.parameters();
    }
}
