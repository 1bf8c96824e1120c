package lunar.iscsi.framing;

/**
 * Framing parameters of a connection.
 *
 * @param headerDigest CRC32C after the header segments (RFC 7143 section 13.1)
 * @param dataDigest CRC32C after the data segment
 * @param maxReceiveDataBytes longest data segment that the peer may send: the MaxRecvDataSegmentLength that this end
 *        declared
 * @param maxReceiveAhsBytes longest additional header segments accepted
 */
public record Framing(boolean headerDigest, boolean dataDigest, int maxReceiveDataBytes,
        int maxReceiveAhsBytes) {
    /** How every connection starts: no digests, segments to 8192 bytes (RFC 7143 section 13.12), no AHS. */
    public static final Framing LOGIN = new Framing(false, false, 8192, 0);
}
