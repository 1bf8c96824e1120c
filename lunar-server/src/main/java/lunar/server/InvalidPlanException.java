package lunar.server;

import org.jspecify.annotations.Nullable;

/** Thrown when a server cannot apply a plan. The message is one line that says what to change. */
public class InvalidPlanException extends Exception {
    private static final long serialVersionUID = 1;

    /** Creates an exception without a cause. */
    public InvalidPlanException(String message) {
        this(message, null);
    }

    /** Returns an exception with the message of another. */
    static InvalidPlanException of(IllegalArgumentException cause) {
        String message = cause.getMessage();
        if (message == null) {
            throw cause; // no message for a person: a mistake of ours
        }
        return new InvalidPlanException(message, cause);
    }

    /** Creates an exception with its cause. */
    public InvalidPlanException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
