package lunar.iscsi.session;

/** Actions that {@link ConnectionMachine} requests for a connection. */
public sealed interface ConnectionAction {
    /** Initiator: open the transport connection. */
    record OpenTransport() implements ConnectionAction {}

    /** Initiator: send the first Login Request. */
    record BeginLogin() implements ConnectionAction {}

    /** Enter the Full Feature Phase: notify the session, accept commands. */
    record EnterFullFeature() implements ConnectionAction {}

    /** Target: send Async Message "target requests logout" (AsyncEvent 1). */
    record AskForLogout() implements ConnectionAction {}

    /** Initiator: send a Logout Request, after no more commands go out on this connection. */
    record SendLogout() implements ConnectionAction {}

    /** Start no more commands on this connection. */
    record StopCommands() implements ConnectionAction {}

    /** Close the transport connection if it is open. */
    record CloseTransport() implements ConnectionAction {}

    /**
     * Keep the tasks of this connection for recovery and notify the session. At ErrorRecoveryLevel 0 and 1 a lost
     * connection cannot be recovered, and its tasks are ended instead.
     */
    record SuspendTasks() implements ConnectionAction {}

    /** End the remaining tasks of this connection, discard its state and notify the session. */
    record Release() implements ConnectionAction {}

    /** Start a timer; the end of it is {@link ConnectionEvent.TimedOut}. */
    record StartTimer(ConnectionTimer timer) implements ConnectionAction {}

    /** Stop a timer; nothing if it does not run. */
    record CancelTimer(ConnectionTimer timer) implements ConnectionAction {}
}
