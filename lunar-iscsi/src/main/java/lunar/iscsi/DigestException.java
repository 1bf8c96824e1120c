package lunar.iscsi;

/**
 * A header digest (CRC32C) does not match: nothing after it on the connection can be trusted (RFC 7143 section 7.8).
 */
public final class DigestException extends IscsiException {
    public DigestException(String message) { super(message, null); }
}
