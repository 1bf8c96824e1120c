package lunar.cli.browse;

/** Thrown when a request fails; carries the HTTP status and a message. */
final class HttpError extends Exception {
    private static final long serialVersionUID = 1;

    private final int status;

    HttpError(int status, String message) {
        super(message);
        this.status = status;
    }

    /** Returns the HTTP status. */
    int status() { return status; }

    /** Returns the message as a sentence. */
    String text() {
        String message = String.valueOf(getMessage());
        return Character.toUpperCase(message.charAt(0)) + message.substring(1)
                + (message.endsWith(".") ? "" : ".");
    }
}
