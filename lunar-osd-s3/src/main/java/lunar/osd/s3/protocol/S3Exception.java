package lunar.osd.s3.protocol;

/** Refuses a request with an error of S3. The message is sent to the client: it has no secrets. */
public final class S3Exception extends Exception {
    private static final long serialVersionUID = 1;

    private final S3Error error;

    /** Refuses with the message of the error. */
    public S3Exception(S3Error error) {
        this(error, error.message());
    }

    /** Refuses with a message of its own. */
    public S3Exception(S3Error error, String message) {
        super(message, null, false, false);
        this.error = error;
    }

    /** Returns the error. */
    public S3Error error() { return error; }
}
