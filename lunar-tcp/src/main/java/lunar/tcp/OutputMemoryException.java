package lunar.tcp;

/** Thrown when memory for output is short; ends the connection that holds most of it. */
final class OutputMemoryException extends RuntimeException {
    private static final long serialVersionUID = 1;

    OutputMemoryException(String message) { super(message); }

    OutputMemoryException(String message, Throwable cause) { super(message, cause); }
}
