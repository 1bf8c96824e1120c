package lunar.bench.harness;

/** Something the comparison needs is missing or has failed; the message says what to do. */
public final class BenchException extends Exception {
    private static final long serialVersionUID = 1;

    public BenchException(String message) { super(message); }

    public BenchException(String message, Throwable cause) { super(message, cause); }
}
