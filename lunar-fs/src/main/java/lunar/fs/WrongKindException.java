package lunar.fs;

/** An entry is not of the kind that the call needs, as a directory where a file should be. */
public final class WrongKindException extends FsException {
    private static final long serialVersionUID = 1;

    WrongKindException(String message) { super(message, null); }
}
