package lunar.bench.harness;

/** Thrown when a requirement of a benchmark is missing or fails; the message says what to do. */
public final class BenchException extends Exception {
    private static final long serialVersionUID = 1;

    public BenchException(String message) { super(message); }

    public BenchException(String message, Throwable cause) { super(message, cause); }
}
