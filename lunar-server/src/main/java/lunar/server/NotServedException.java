package lunar.server;

/** Thrown when a request names a target or a LUN that the server does not serve. */
public final class NotServedException extends InvalidPlanException {
    private static final long serialVersionUID = 1;

    NotServedException(String message) { super(message); }
}
