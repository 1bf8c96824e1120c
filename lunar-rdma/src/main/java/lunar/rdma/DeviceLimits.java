package lunar.rdma;

/**
 * Limits of a device. Options and work requests that exceed them are rejected before they reach the native library.
 *
 * @param maxMessageBytes longest message, and longest RDMA read or write
 * @param maxInlineBytes longest message that can be sent {@linkplain WorkRequest#inline inline}; 0 for none
 * @param maxSegments most memory segments per work request (scatter/gather entries)
 * @param maxSendDepth most operations posted to one send queue
 * @param maxReceiveDepth most receives posted to one receive queue
 * @param maxCompletionDepth most entries of one completion queue
 * @param maxConnectDataBytes longest private data of a connect
 * @param maxAcceptDataBytes longest private data of an accept
 * @param maxRejectDataBytes longest private data of a reject
 */
public record DeviceLimits(long maxMessageBytes, int maxInlineBytes, int maxSegments,
        int maxSendDepth, int maxReceiveDepth, int maxCompletionDepth, int maxConnectDataBytes,
        int maxAcceptDataBytes, int maxRejectDataBytes) {
    /** Most memory segments that a {@link WorkRequest} can describe, even if a device supports more. */
    public static final int MAX_SEGMENTS = 8;

    public DeviceLimits {
        if (maxSegments < 2 || maxSegments > MAX_SEGMENTS) {
            throw new IllegalArgumentException("segments: " + maxSegments);
        }
    }
}
