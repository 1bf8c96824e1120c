package lunar.iscsi;

import java.util.Optional;

/** Status-Class and Status-Detail of a Login Response (RFC 7143 section 11.13.5). */
public enum LoginStatus {
    /** Goes on, or is done. */
    SUCCESS(0, 0, "success"),
    /** The text holds the address to go to this time. */
    MOVED_TEMPORARILY(1, 1, "target moved temporarily"),
    /** The text holds the address to go to from now on. */
    MOVED_PERMANENTLY(1, 2, "target moved permanently"),
    /** Any error of the initiator which has no code of its own. */
    INITIATOR_ERROR(2, 0, "initiator error"),
    /** A wrong name or secret, or a method which the target does not take. */
    AUTHENTICATION_FAILURE(2, 1, "authentication failed"),
    /** This initiator may not use this target. */
    AUTHORIZATION_FAILURE(2, 2, "initiator not allowed at this target"),
    /** No target with this name. */
    NOT_FOUND(2, 3, "no such target"),
    /** There was one, and no address to go to is known. */
    TARGET_REMOVED(2, 4, "target removed"),
    /** No version between Version-min and Version-max. */
    UNSUPPORTED_VERSION(2, 5, "protocol version not supported"),
    /** The session has all the connections it may have. */
    TOO_MANY_CONNECTIONS(2, 6, "too many connections"),
    /** A key such as InitiatorName or TargetName is not there. */
    MISSING_PARAMETER(2, 7, "missing parameter"),
    /** No session spans this connection's portal. */
    CANNOT_INCLUDE_IN_SESSION(2, 8, "connection cannot join the session"),
    /** The session type, such as discovery, is not supported. */
    SESSION_TYPE_NOT_SUPPORTED(2, 9, "session type not supported"),
    /** The TSIH names no session of this initiator. */
    SESSION_DOES_NOT_EXIST(2, 0x0a, "no such session"),
    /** A PDU which has no place in a login. */
    INVALID_DURING_LOGIN(2, 0x0b, "request not valid during login"),
    /** Any error of the target which has no code of its own. */
    TARGET_ERROR(3, 0, "target error"),
    /** The target is not working now. */
    SERVICE_UNAVAILABLE(3, 1, "service unavailable"),
    /** The target has no room for the session or connection. */
    OUT_OF_RESOURCES(3, 2, "target out of resources");

    private final int statusClass;
    private final int detail;
    private final String text;

    LoginStatus(int statusClass, int detail, String text) {
        this.statusClass = statusClass;
        this.detail = detail;
        this.text = text;
    }

    /** The status with a class and detail, if the RFC defines one. */
    public static Optional<LoginStatus> of(int statusClass, int detail) {
        for (LoginStatus each : values()) {
            if (each.statusClass == statusClass && each.detail == detail) {
                return Optional.of(each);
            }
        }
        return Optional.empty();
    }

    /** A text for users and logs. A detail without a meaning is described by its class, as the RFC asks. */
    public static String describe(int statusClass, int detail) {
        return of(statusClass, detail).map(LoginStatus::text)
                .orElseGet(() -> switch (statusClass) {
                    case 0 -> SUCCESS.text;
                    case 1 -> "target moved";
                    case 2 -> INITIATOR_ERROR.text;
                    case 3 -> TARGET_ERROR.text;
                    default -> "unknown status class " + statusClass;
                } + String.format(" (status 0x%02x%02x)", statusClass, detail));
    }

    /** Status-Class: 0 success, 1 redirection, 2 initiator error, 3 target error. */
    public int statusClass() {
        return statusClass;
    }

    /** Status-Detail within the class. */
    public int detail() { return detail; }

    /** Returns the meaning of this status, for users and logs. */
    public String text() {
        return text;
    }
}
