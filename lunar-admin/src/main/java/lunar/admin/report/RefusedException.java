package lunar.admin.report;

import org.jspecify.annotations.Nullable;

/** Thrown when an operation is refused. The message is one line for the operator; nothing has changed. */
public final class RefusedException extends Exception {
    private static final long serialVersionUID = 1;

    /** @param message one line that says what to do */
    public RefusedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
