package lunar.fs;

/** The bytes on the device break the rules of their format, or exceed a limit that no sane ones exceed. */
public final class CorruptException extends FsException {
    private static final long serialVersionUID = 1;

    CorruptException(String message) { super(message, null); }
}
