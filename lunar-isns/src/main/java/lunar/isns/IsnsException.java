package lunar.isns;

import java.io.IOException;

/**
 * Thrown when the name server violates the protocol or does not respond in time, which ends the connection; or, as a
 * {@link Refused}, when it rejects a request.
 */
public sealed class IsnsException extends IOException {
    private static final long serialVersionUID = 1;

    /** Takes one line for an operator. */
    public IsnsException(String message) { super(message); }

    /** Takes one line for an operator, and the cause. */
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
