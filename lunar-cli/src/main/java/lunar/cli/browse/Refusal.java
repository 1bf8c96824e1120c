package lunar.cli.browse;

/** A request that is answered with a page that says why not. */
final class Refusal extends Exception {
    private static final long serialVersionUID = 1;

    private final int status;

    Refusal(int status, String message) {
        super(message);
        this.status = status;
    }

    /** Status of HTTP. */
    int status() { return status; }

    /** A sentence. */
    String text() {
        String message = String.valueOf(getMessage());
        return Character.toUpperCase(message.charAt(0)) + message.substring(1)
                + (message.endsWith(".") ? "" : ".");
    }
}
