package lunar.fs;

/** A path that leads nowhere. */
public final class NotFoundException extends FsException {
    private static final long serialVersionUID = 1;

    NotFoundException(String message) { super(message, null); }
}
