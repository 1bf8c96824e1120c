package lunar.rdma;

/**
 * Limits of a device. Options and requests that exceed them are refused before they reach the native library.
 *
 * @param maxMessageBytes longest message, and longest RDMA read or write
 * @param maxInlineBytes longest message that can be {@linkplain WorkRequest#inline inline}; 0 for none
 * @param maxSegments most pieces of memory per work request
 * @param maxSendDepth most operations posted to one send queue
 * @param maxReceiveDepth most receives posted to one receive queue
 * @param maxCompletionDepth most entries of one completion queue
 * @param maxConnectDataBytes most private data of a connect
 * @param maxAcceptDataBytes most private data of an accept
 * @param maxRejectDataBytes most private data of a reject
 */
public record DeviceLimits(long maxMessageBytes, int maxInlineBytes, int maxSegments,
        int maxSendDepth, int maxReceiveDepth, int maxCompletionDepth, int maxConnectDataBytes,
        int maxAcceptDataBytes, int maxRejectDataBytes) {
    /** Work requests have room for so many pieces, whatever the device could take. */
    public static final int MAX_SEGMENTS = 8;

    public DeviceLimits {
        if (maxSegments < 2 || maxSegments > MAX_SEGMENTS) {
            throw new IllegalArgumentException("segments: " + maxSegments);
        }
    }
}
