package lunar.iscsi.pdu;

import java.util.Optional;

/** Outcomes of a logout (RFC 7143 section 11.15.1). */
public enum LogoutResponseCode {
    /** The connection or session has ended. */
    SUCCESS(0, "closed"),
    /** The session has no connection with that CID. */
    CID_NOT_FOUND(1, "CID not found"),
    /** This target works at an error recovery level below 2. */
    RECOVERY_NOT_SUPPORTED(2, "connection recovery not supported"),
    /** Failed for another reason. */
    CLEANUP_FAILED(3, "cleanup failed");

    private final int code;
    private final String text;

    LogoutResponseCode(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /** The response with a code, if the RFC defines one. */
    public static Optional<LogoutResponseCode> of(int code) {
        for (LogoutResponseCode each : values()) {
            if (each.code == code) {
                return Optional.of(each);
            }
        }
        return Optional.empty();
    }

    /** A text for logs, of codes without a meaning too. */
    public static String describe(int code) {
        return of(code).map(LogoutResponseCode::text).orElse("unknown code " + code);
    }

    /** The code in the response. */
    public int code() { return code; }

    /** Returns the meaning of this code, for logs. */
    public String text() { return text; }
}
