package lunar.iscsi;

/** Thrown when a login fails. Carries the status of the Login Response (RFC 7143 section 11.13.5). */
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

    /** Status-Detail within the class; of our own refusal the one that class 2 would have. */
    public int statusDetail() {
        return statusDetail;
    }

    /**
     * Whether retries fail until an operator changes something: status class 2, except for unknown targets and too many
     * connections, which are transient; and a target that has failed to authenticate itself.
     */
    public boolean isLasting() {
        if (statusClass == 0) {
            return statusDetail == LoginStatus.AUTHENTICATION_FAILURE.detail();
        }
        return statusClass == LoginStatus.INITIATOR_ERROR.statusClass()
                && LoginStatus.of(statusClass, statusDetail)
                        .map(status -> status != LoginStatus.NOT_FOUND
                                && status != LoginStatus.TOO_MANY_CONNECTIONS)
                        .orElse(true);
    }
}
