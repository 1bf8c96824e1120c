package lunar.iscsi.session;

/**
 * States of one session, Q1 to Q5 of RFC 7143 section 8.3. {@link SessionMachine} implements the transitions; any other
 * is an error.
 *
 * <pre>
 * from         to           when
 * FREE         ACTIVE       N1   target: the login of the first connection began
 *              LOGGED_IN    N1   initiator: the first connection logged in
 * ACTIVE       LOGGED_IN    N2   target: the first connection logged in
 *              FREE         N9   target: that login failed
 * LOGGED_IN    FREE         N3   the session was closed, or reinstated
 *              FAILED       N5   the last connection was lost
 * FAILED       LOGGED_IN    N4   initiator: a connection logged in to continue the session
 *              FREE         N6   it was not continued in time, or was reinstated
 *              IN_CONTINUE  N7   target: a login to continue the session began
 * IN_CONTINUE  FAILED       N8   target: the last such login failed
 *              LOGGED_IN    N10  target: such a login succeeded
 *              FREE         N11  target: the session was reinstated
 * </pre>
 */
public enum SessionState {
    /** Q1: does not exist. */
    FREE,
    /** Q2, target: its first connection is logging in. */
    ACTIVE,
    /** Q3: at least one connection is in the Full Feature Phase. */
    LOGGED_IN,
    /** Q4: no connection is left, and the initiator may still continue the session. */
    FAILED,
    /** Q5, target: a connection is logging in to continue it. */
    IN_CONTINUE
}
