package lunar.iscsi;

/** A login ended without a session. Carries the status of the Login Response (RFC 7143 section 11.13.5). */
public final class LoginException extends IscsiException {
    private final int statusClass;
    private final int statusDetail;

    /** A refusal by the target; {@code statusClass} 0 stands for a refusal of our own. */
    public LoginException(String message, int statusClass, int statusDetail) {
        super(message, null);
        this.statusClass = statusClass;
        this.statusDetail = statusDetail;
    }

    /** Status-Class: 1 redirection, 2 initiator error, 3 target error, 0 our own refusal. */
    public int statusClass() {
        return statusClass;
    }

    /** Status-Detail within the class. */
    public int statusDetail() { return statusDetail; }
}
