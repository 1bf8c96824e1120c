package lunar.fs;

/** Thrown when data on the device violates its format, or exceeds a sanity limit. */
public final class CorruptException extends FsException {
    private static final long serialVersionUID = 1;

    CorruptException(String message) { super(message, null); }
}
