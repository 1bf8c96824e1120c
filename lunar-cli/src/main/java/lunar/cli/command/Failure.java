package lunar.cli.command;

import org.jspecify.annotations.Nullable;

/** Thrown when a command fails. The message is one line for the user that says what to do. */
public final class Failure extends Exception {
    private static final long serialVersionUID = 1;
    private static final int FAILED = 1;

    private final int status;

    public Failure(String message) { this(message, null); }

    public Failure(String message, @Nullable Throwable cause) { this(message, cause, FAILED); }

    /** @param status exit status of the command */
    public Failure(String message, @Nullable Throwable cause, int status) {
        super(message, cause);
        this.status = status;
    }

    /** Returns the exit status of the command. */
    public int status() { return status; }
}
