package lunar.fs;

/** Thrown when an entry has the wrong type for the operation, such as a directory instead of a file. */
public final class WrongKindException extends FsException {
    private static final long serialVersionUID = 1;

    WrongKindException(String message) { super(message, null); }
}
