package lunar.iser.wire;

/**
 * Private data of a connect and of its accept (InfiniBand Architecture Specification, annex A12): one byte of flags,
 * three reserved ones. Connection managers pad it with zeros.
 *
 * @param lacksZeroBased zero-based addresses are not supported (connect), or not used (accept)
 * @param lacksInvalidation Send with Invalidate is not supported, or not used
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
     * Decodes what the peer has sent. Data that are missing, as with a connection manager that does not carry any, say
     * that nothing optional is supported; what follows the flags is ignored.
     */
    public static ConnectData decode(byte[] bytes) {
        return bytes.length < LENGTH
                ? new ConnectData(true, true)
                : new ConnectData((bytes[0] & ZERO_BASED) != 0, (bytes[0] & INVALIDATION) != 0);
    }
}
