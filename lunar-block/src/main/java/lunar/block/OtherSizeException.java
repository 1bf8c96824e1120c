package lunar.block;

/**
 * Thrown when a URI asks for another size than its device has: it is not opened. What a server has open already, a
 * reload may resize. The message is one line for the user.
 */
public final class OtherSizeException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    /** Creates an exception with one line for the user. */
    public OtherSizeException(String message) {
        super(message);
    }
}
