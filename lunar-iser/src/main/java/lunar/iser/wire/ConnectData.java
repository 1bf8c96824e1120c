package lunar.iser.wire;

/**
 * Private data of a connection request and of its accept (InfiniBand Architecture Specification, annex A12): one byte
 * of flags and three reserved bytes. Connection managers pad them with zeros.
 *
 * @param lacksZeroBased whether zero-based addresses are not supported (request) or not used (accept)
 * @param lacksInvalidation whether Send with Invalidate is not supported (request) or not used (accept)
 */
public record ConnectData(boolean lacksZeroBased, boolean lacksInvalidation) {
    private static final int LENGTH = 4;
    private static final int ZERO_BASED = 0x80;
    private static final int INVALIDATION = 0x40;

    /** Encodes the data. */
    public byte[] encode() {
        byte[] bytes = new byte[LENGTH];
        bytes[0] = (byte) ((lacksZeroBased ? ZERO_BASED : 0)
                | (lacksInvalidation ? INVALIDATION : 0));
        return bytes;
    }

    /**
     * Decodes the peer's private data. If they are missing, as with a connection manager that carries none, neither
     * feature is supported. Bytes after the flags are ignored.
     */
    public static ConnectData decode(byte[] bytes) {
        return bytes.length < LENGTH
                ? new ConnectData(true, true)
                : new ConnectData((bytes[0] & ZERO_BASED) != 0, (bytes[0] & INVALIDATION) != 0);
    }
}
