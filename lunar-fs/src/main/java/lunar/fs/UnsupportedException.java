package lunar.fs;

/** Thrown for valid content that is not supported: another file system, an unknown feature, an encrypted file. */
public final class UnsupportedException extends FsException {
    private static final long serialVersionUID = 1;

    UnsupportedException(String message) { super(message, null); }
}
