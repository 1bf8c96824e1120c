package lunar.iscsi.session;

/** Events of a session, for {@link SessionMachine}. */
public sealed interface SessionEvent {
    /** Target: a connection of this session has begun its login. */
    record LoginBegun() implements SessionEvent {}

    /** A connection of this session has logged in. */
    record LoginSucceeded() implements SessionEvent {}

    /**
     * Target: the login of a connection of this session failed.
     *
     * @param othersCount logins of this session that are still in progress
     */
    record LoginFailed(int othersCount) implements SessionEvent {}

    /**
     * A connection that was logged in is in CLEANUP_WAIT.
     *
     * @param othersCount connections of this session that are still logged in
     */
    record ConnectionLost(int othersCount) implements SessionEvent {}

    /** The session was closed by a Logout, or its last connection was (RFC 7143 section 6.3.6). */
    record Closed() implements SessionEvent {}

    /** A login with the same names, ISID and TSIH 0 has taken its place (RFC 7143 section 6.3.5). */
    record Reinstated() implements SessionEvent {}

    /** The timer that {@link SessionAction.StartTimer} started has run out. */
    record TimedOut() implements SessionEvent {}
}
