package lunar.iscsi;

/**
 * Thrown when a header digest (CRC32C) does not match: later bytes of the connection cannot be interpreted (RFC 7143
 * section 7.8).
 */
public final class DigestException extends IscsiException {
    public DigestException(String message) { super(message, null); }
}
