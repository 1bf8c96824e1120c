package lunar.tcp;

/** There is no memory for what a connection is to send. It ends that connection, and no other. */
final class OutputMemoryException extends RuntimeException {
    private static final long serialVersionUID = 1;

    OutputMemoryException(String message) { super(message); }

    OutputMemoryException(String message, Throwable cause) { super(message, cause); }
}
