package lunar.iscsi.session;

/** Events of a connection, for {@link ConnectionMachine}. They apply to both ends unless stated otherwise. */
public sealed interface ConnectionEvent {
    /** Initiator: a connection is wanted. */
    record ConnectRequested() implements ConnectionEvent {}

    /** Initiator: the transport connection could not be made, or not in time. */
    record ConnectFailed() implements ConnectionEvent {}

    /** Initiator: the transport connection is up. */
    record Connected() implements ConnectionEvent {}

    /** Target: a transport connection was accepted. */
    record Accepted() implements ConnectionEvent {}

    /** Target: the first Login Request has come. */
    record LoginBegun() implements ConnectionEvent {}

    /** The final Login Response with Status-Class 0 was sent or has come. */
    record LoginSucceeded() implements ConnectionEvent {}

    /** A Login Response with another Status-Class was sent or has come, or the peer broke the rules of login. */
    record LoginFailed() implements ConnectionEvent {}

    /** The transport connection was closed, reset or found dead. */
    record TransportLost() implements ConnectionEvent {}

    /** Initiator: Async Message "target requests logout" has come (AsyncEvent 1). */
    record LogoutAsked() implements ConnectionEvent {}

    /** Target: this connection is to be given up; the initiator is asked to log out (AsyncEvent 1). */
    record LogoutDemanded() implements ConnectionEvent {}

    /** A Logout Request that closes this connection or its session was sent or has come on it. */
    record LogoutBegun() implements ConnectionEvent {}

    /** The Logout Response to it, success, was sent or has come. */
    record LogoutSucceeded() implements ConnectionEvent {}

    /** The Logout Response to it, any other, was sent or has come. */
    record LogoutFailed() implements ConnectionEvent {}

    /** Async Message "drops the connection" or "drops all connections" was sent or has come (AsyncEvent 2, 3). */
    record Dropped() implements ConnectionEvent {}

    /** The session was closed by a Logout on another connection. */
    record SessionClosed() implements ConnectionEvent {}

    /** Target: a login has taken the place of this connection or its session (RFC 7143 sections 6.3.4 and 6.3.5). */
    record Reinstated() implements ConnectionEvent {}

    /** Target: an attempt to reinstate this connection or its session failed. */
    record ReinstatementFailed() implements ConnectionEvent {}

    /** A logout of this CID began on another connection, or a login with this CID on a new one. */
    record CleanupBegun() implements ConnectionEvent {}

    /** That logout or login succeeded. */
    record CleanupSucceeded() implements ConnectionEvent {}

    /** That logout or login failed. */
    record CleanupFailed() implements ConnectionEvent {}

    /** A timer that {@link ConnectionAction.StartTimer} started has run out. */
    record TimedOut(ConnectionTimer timer) implements ConnectionEvent {}
}
