package lunar.isns;

import java.io.IOException;

/**
 * The name server broke a rule of the protocol, or answered too late: the connection cannot go on. Or, as a {@link
 * Refused}, it does not want what we ask for.
 */
public sealed class IsnsException extends IOException {
    private static final long serialVersionUID = 1;

    /** With one line for a person. */
    public IsnsException(String message) { super(message); }

    /** With one line for a person, and where it comes from. */
    public IsnsException(String message, Throwable cause) {
        super(message, cause);
    }

    /** A request was answered with a status that is not zero. */
    public static final class Refused extends IsnsException {
        private static final long serialVersionUID = 1;

        private final int status;

        Refused(int function, int status) {
            super(Functions.name(function) + " is refused: " + Status.text(status));
            this.status = status;
        }

        /** Status code (RFC 4171 section 5.4). */
        public int status() { return status; }
    }
}
