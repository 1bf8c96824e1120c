package lunar.fs;

/** Thrown when a path does not exist. */
public final class NotFoundException extends FsException {
    private static final long serialVersionUID = 1;

    NotFoundException(String message) { super(message, null); }
}
