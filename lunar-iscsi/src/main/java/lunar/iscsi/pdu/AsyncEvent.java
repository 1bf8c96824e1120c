package lunar.iscsi.pdu;

import java.util.Optional;

/** Events that an Asynchronous Message announces (RFC 7143 section 11.9.1). */
public enum AsyncEvent {
    /** Sense data are in the data segment. */
    SCSI_EVENT(0, "SCSI asynchronous event"),
    /** Parameter3 seconds are left for a Logout Request on this connection. */
    LOGOUT_REQUEST(1, "target requests logout"),
    /** Parameter1 is its CID; Parameter2 and 3 are the times to wait and to retain. */
    CONNECTION_DROP(2, "target drops a connection"),
    /** Parameter2 and 3 are the times to wait and to retain. */
    SESSION_DROP(3, "target drops all connections"),
    /** Parameter3 seconds are left for a Text Request. */
    NEGOTIATION_REQUEST(4, "target requests negotiation"),
    /** Parameter1 is 0 for all sessions; the LUN field tells the unit. */
    TASK_TERMINATION(5, "target ends all tasks of a logical unit"),
    /** AsyncVCode tells more. */
    VENDOR_SPECIFIC(255, "vendor-specific event");

    private final int code;
    private final String text;

    AsyncEvent(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /** The event with a code, if the RFC defines one. */
    public static Optional<AsyncEvent> of(int code) {
        for (AsyncEvent each : values()) {
            if (each.code == code) {
                return Optional.of(each);
            }
        }
        return Optional.empty();
    }

    /** A text for logs, of codes without a meaning too. */
    public static String describe(int code) {
        return of(code).map(AsyncEvent::text).orElse("unknown code " + code);
    }

    /** The code in the message. */
    public int code() { return code; }

    /** Returns the meaning of this event, for logs. */
    public String text() { return text; }
}
