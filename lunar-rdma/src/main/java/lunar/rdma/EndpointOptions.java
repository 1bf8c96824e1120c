package lunar.rdma;

import org.jspecify.annotations.Nullable;

/**
 * Settings of an endpoint.
 *
 * @param sendQueue reports sends, writes and reads
 * @param receiveQueue reports receives; may be the same
 * @param sharedReceives where receives are posted, instead of to the endpoint; null for receives of its own
 * @param sendDepth most sends, writes and reads that are posted at a time
 * @param receiveDepth most receives that are posted at a time; 0 with shared receives
 * @param segments most pieces of memory in one work request
 * @param inlineBytes longest message that can be {@linkplain WorkRequest#inline inline}
 * @param readDepth most RDMA reads of each direction in flight; more wait in the send queue
 * @param connectTimeoutMs limit for a connect, and for the time between an accept and its establishment
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

    /** Returns options with one completion queue, 32 operations each way, two segments, nothing inline, 10 seconds. */
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
