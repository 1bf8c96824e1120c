package lunar.bench;

/** Something the comparison needs is missing or has failed; the message says what to do. */
public final class BenchException extends Exception {
    private static final long serialVersionUID = 1;

    BenchException(String message) { super(message); }

    BenchException(String message, Throwable cause) { super(message, cause); }
}
