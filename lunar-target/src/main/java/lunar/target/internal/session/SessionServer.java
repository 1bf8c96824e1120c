package lunar.target.internal.session;

import java.net.InetSocketAddress;
import java.util.List;
import lunar.iscsi.login.LoginResult;
import lunar.iscsi.text.DiscoveredTarget;
import lunar.iscsi.text.SendTargets;
import lunar.iscsi.text.SessionEnd;
import lunar.scsi.target.Buffers;
import lunar.target.ServerLimits;
import lunar.target.internal.task.RetransmissionMemory;

/** View of the server for its sessions. Thread-safe. */
interface SessionServer {
    ServerLimits limits();

    /** Returns the longest DefaultTime2Wait of an initiator for which tasks are kept. */
    int maxTime2WaitSeconds();

    /** Returns the memory pool of all commands. */
    Buffers buffers();

    /** Returns the limits of what all connections keep for retransmission. */
    RetransmissionMemory retransmission();

    /** Returns the log of what peers do wrong. */
    WarningLimiter warnings();

    /** Whether units announce resets to new sessions by a unit attention. */
    boolean announcesResets();

    /** Answers SendTargets; see {@link Discovery#answer}. */
    List<DiscoveredTarget> discover(SendTargets question, LoginResult login, BoundPortal asked,
            InetSocketAddress reached);

    /** Returns the handler of requests by an initiator to end its other sessions. */
    SessionEnd.Server ends(Session asking);

    /**
     * Ends a session that has neither connections nor tasks, or that never began. It has ended when its background
     * copies have; until then no new session replaces it.
     */
    void ended(Session session);
}
