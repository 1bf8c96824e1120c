package lunar.iscsi.session;

/**
 * States of one connection, S1 to S8 of RFC 7143 section 8.1 and R1 to R3 of section 8.2. {@link ConnectionMachine}
 * implements the transitions; any other is an error.
 *
 * <pre>
 * from              to               when
 * FREE              XPT_WAIT         T1   initiator: the transport connection was asked for
 *                   XPT_UP           T3   target: the transport connection was accepted
 * XPT_WAIT          FREE             T2   connecting failed, or the session closed
 *                   IN_LOGIN         T4   initiator: the transport connection is up
 * XPT_UP            IN_LOGIN         T4   target: the first Login Request has come
 *                   FREE             T6   no login in time, transport lost, or the session closed
 * IN_LOGIN          LOGGED_IN        T5   the final Login Response, status 0, was sent or has come
 *                   FREE             T7   login refused or too slow, transport lost, or the session closed
 * LOGGED_IN         FREE             T8   the session closed on another connection, or was reinstated
 *                   IN_LOGOUT        T9   a Logout Request was sent or has come
 *                   LOGOUT_REQUESTED T11  Async "request logout" was sent or has come
 *                   CLEANUP_WAIT     T15  transport lost, reinstatement failed, or Async "drop connection"
 * LOGOUT_REQUESTED  IN_LOGOUT        T10  a Logout Request was sent or has come
 *                   itself           T12  Async "request logout" once more
 *                   CLEANUP_WAIT     T16  as T15, or the request was not met in time
 *                   FREE             T18  as T8
 * IN_LOGOUT         FREE             T13  the Logout Response, success, was sent or has come; or as T8
 *                   itself           T14  initiator: Async "request logout" has come
 *                   CLEANUP_WAIT     T17  logout failed or was too slow, or as T15
 * CLEANUP_WAIT      FREE             M1   no cleanup in time, or the session closed
 *                   IN_CLEANUP       M2   a logout of this CID began on another connection, or a login with its CID
 * IN_CLEANUP        CLEANUP_WAIT     M3   that logout failed
 *                   FREE             M4   that logout succeeded
 * </pre>
 */
public enum ConnectionState {
    /** S1 and R3: no transport connection, nothing to remember. */
    FREE,
    /** S2, initiator: waits for the transport connection. */
    XPT_WAIT,
    /** S3, target: waits for the first Login Request. */
    XPT_UP,
    /** S4: the Login Phase. */
    IN_LOGIN,
    /** S5: the Full Feature Phase. */
    LOGGED_IN,
    /** S6: waits for the end of a logout. */
    IN_LOGOUT,
    /** S7: the target has asked the initiator to log out. */
    LOGOUT_REQUESTED,
    /** S8 and R1: the transport is gone and its tasks wait for recovery. */
    CLEANUP_WAIT,
    /** R2: another connection cleans this one up. */
    IN_CLEANUP
}
