package lunar.target.internal.session;

import lunar.iscsi.LoginStatus;
import lunar.iscsi.framing.PduReceiver;

/**
 * Phase of a connection, login or full feature: handles its PDUs and performs the actions of the connection's state
 * machine. A phase without a session has nothing to perform. Confined to the event loop's thread.
 */
interface ConnectionPhase extends PduReceiver {
    /** Refuses a login that is not complete, for a reason of the target. The caller ends the connection. */
    default void refuse(LoginStatus status, String why) {}

    /** Whether the connection is that of a discovery session. */
    default boolean isDiscovery() {
        return false;
    }

    /** Ignores all further PDUs, since a logout has begun or the connection is over. */
    default void stopCommands() {}

    /** Asks the initiator to log out within some seconds. */
    default void demandLogout(int withinSeconds) {}

    /** Returns how long the tasks of a lost connection are kept for another; 0 where they are not kept. */
    default long retainMs() {
        return 0;
    }

    /** Keeps the tasks of the lost connection for reassignment, if that is negotiated; else releases them. */
    default void suspend() {}

    /** Aborts the tasks that are left when the connection is over, unless they wait to be reassigned. */
    default void over() {}
}
