package lunar.iscsi.pdu;

import java.util.Optional;
import lunar.iscsi.ProtocolException;

/** Reasons for a logout (RFC 7143 section 11.14.1). */
public enum LogoutReason {
    /** All connections of the session end. */
    CLOSE_SESSION(0, "close the session"),
    /** The connection with the given CID ends, and its tasks with it. */
    CLOSE_CONNECTION(1, "close the connection"),
    /** The connection with the given CID ends; its tasks wait to be reassigned. */
    REMOVE_FOR_RECOVERY(2, "remove the connection for recovery");

    private final int code;
    private final String text;

    LogoutReason(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /** The reason with a code, if the RFC defines one. */
    public static Optional<LogoutReason> of(int code) {
        for (LogoutReason each : values()) {
            if (each.code == code) {
                return Optional.of(each);
            }
        }
        return Optional.empty();
    }

    /** A text for logs, of codes without a meaning too. */
    public static String describe(int code) {
        return of(code).map(LogoutReason::text).orElse("unknown code " + code);
    }

    /** The code in the request. */
    public int code() { return code; }

    /** Returns the meaning of this reason, for logs. */
    public String text() { return text; }

    static LogoutReason decode(int code) throws ProtocolException {
        return of(code).orElseThrow(() -> HeaderRule.reserved("logout reason", code, "11.14.1"));
    }
}
