package lunar.iscsi.session;

/** Timeouts of a connection. The caller defines their durations. */
public enum ConnectionTimer {
    /** For the end of the Login Phase. */
    LOGIN,
    /** For the Logout Request that was asked for: Parameter3 of the Async Message (RFC 7143 section 11.9.1). */
    LOGOUT_REQUEST,
    /** For the end of a logout. */
    LOGOUT,
    /** For recovery of a failed connection: Time2Wait and Time2Retain (RFC 7143 section 7.5). */
    CLEANUP
}
