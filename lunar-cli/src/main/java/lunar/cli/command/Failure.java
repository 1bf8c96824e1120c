package lunar.cli.command;

import org.jspecify.annotations.Nullable;

/** Thrown when a command fails. The message is one line for the user that says what to do. */
public final class Failure extends Exception {
    private static final long serialVersionUID = 1;

    public Failure(String message) { this(message, null); }

    public Failure(String message, @Nullable Throwable cause) { super(message, cause); }
}
