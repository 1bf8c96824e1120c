package lunar.cli;

import org.jspecify.annotations.Nullable;

/** Signals that a command cannot go on. The message is one line for the user, and says what to do. */
final class Failure extends Exception {
    private static final long serialVersionUID = 1;

    Failure(String message) { this(message, null); }

    Failure(String message, @Nullable Throwable cause) { super(message, cause); }
}
