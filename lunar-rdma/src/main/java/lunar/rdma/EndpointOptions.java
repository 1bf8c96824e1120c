package lunar.rdma;

import org.jspecify.annotations.Nullable;

/**
 * Settings of an endpoint.
 *
 * @param sendQueue completion queue of sends, writes and reads
 * @param receiveQueue completion queue of receives; may be the same queue
 * @param sharedReceives shared receive queue that the endpoint takes receives from; null if it has a receive queue of
 *        its own
 * @param sendDepth most sends, writes and reads that can be posted at a time
 * @param receiveDepth most receives that can be posted at a time; 0 with a shared receive queue
 * @param segments most memory segments of a work request
 * @param inlineBytes longest message that can be sent {@linkplain WorkRequest#inline inline}
 * @param readDepth most RDMA reads in flight in each direction; further ones wait in the send queue
 * @param connectTimeoutMs timeout of a connect, and of the time from an accept to the established connection
 */
public record EndpointOptions(CompletionQueue sendQueue, CompletionQueue receiveQueue,
        @Nullable SharedReceiveQueue sharedReceives, int sendDepth, int receiveDepth, int segments,
        int inlineBytes, int readDepth, int connectTimeoutMs) {
    public EndpointOptions {
        if (sendDepth < 1 || receiveDepth < (sharedReceives == null ? 1 : 0)
                || segments < 1 || segments > DeviceLimits.MAX_SEGMENTS || inlineBytes < 0
                || readDepth < 1 || connectTimeoutMs < 1) {
            throw new IllegalArgumentException("options: depth " + sendDepth + ", " + receiveDepth
                    + ", segments " + segments + ", inline " + inlineBytes + ", reads "
                    + readDepth + ", timeout " + connectTimeoutMs + " ms");
        }
    }

    /**
     * Returns the defaults: one completion queue for both, depths of 32, two segments, no inline messages, four RDMA
     * reads in flight, a timeout of 10 seconds.
     */
    public static EndpointOptions of(CompletionQueue queue) {
        return new EndpointOptions(queue, queue, null, 32, 32, 2, 0, 4, 10_000);
    }

    public EndpointOptions withDepth(int send, int receive) {
        return new EndpointOptions(sendQueue, receiveQueue, sharedReceives, send, receive,
                segments, inlineBytes, readDepth, connectTimeoutMs);
    }

    public EndpointOptions withSegments(int most) {
        return new EndpointOptions(sendQueue, receiveQueue, sharedReceives, sendDepth,
                receiveDepth, most, inlineBytes, readDepth, connectTimeoutMs);
    }

    public EndpointOptions withInline(int bytes) {
        return new EndpointOptions(sendQueue, receiveQueue, sharedReceives, sendDepth,
                receiveDepth, segments, bytes, readDepth, connectTimeoutMs);
    }

    public EndpointOptions withReadDepth(int most) {
        return new EndpointOptions(sendQueue, receiveQueue, sharedReceives, sendDepth,
                receiveDepth, segments, inlineBytes, most, connectTimeoutMs);
    }

    public EndpointOptions withSharedReceives(SharedReceiveQueue shared) {
        return new EndpointOptions(sendQueue, receiveQueue, shared, sendDepth, 0, segments,
                inlineBytes, readDepth, connectTimeoutMs);
    }

    public EndpointOptions withConnectTimeout(int ms) {
        return new EndpointOptions(sendQueue, receiveQueue, sharedReceives, sendDepth,
                receiveDepth, segments, inlineBytes, readDepth, ms);
    }
}
