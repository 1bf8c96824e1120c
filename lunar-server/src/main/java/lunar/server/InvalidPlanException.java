package lunar.server;

import org.jspecify.annotations.Nullable;

/** Thrown when a server cannot do what a plan says. The message is one line for a person, and says what to change. */
public class InvalidPlanException extends Exception {
    private static final long serialVersionUID = 1;

    /** Creates an exception without a cause. */
    public InvalidPlanException(String message) {
        this(message, null);
    }

    /** Creates an exception with its cause. */
    public InvalidPlanException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
