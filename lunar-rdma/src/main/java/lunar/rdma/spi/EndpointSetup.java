package lunar.rdma.spi;

import org.jspecify.annotations.Nullable;

/**
 * Settings with which a provider creates an endpoint; within the limits of the device.
 *
 * @param sendQueue completion queue of sends, writes and reads
 * @param receiveQueue completion queue of receives; may be the same queue
 * @param shared shared receive queue that it takes receives from; null for a receive queue of its own
 * @param sharedId identifies this endpoint in {@link RawCompletions#addShared}; also the upper half
 *        of the ids of operations that are posted to its own receive queue
 * @param sendDepth most sends, writes and reads posted at a time
 * @param receiveDepth most receives posted at a time
 * @param segments most memory segments of a work request
 * @param inlineBytes longest inline message
 * @param readDepth most RDMA reads in flight in each direction
 * @param sendId upper half of the ids of operations that are posted to its send queue
 */
public record EndpointSetup(ProviderQueue sendQueue, ProviderQueue receiveQueue,
        @Nullable ProviderReceiveQueue shared, int sharedId, int sendDepth, int receiveDepth,
        int segments, int inlineBytes, int readDepth, int sendId) {
    /** Returns these settings with other completion queues. */
    public EndpointSetup withQueues(ProviderQueue sends, ProviderQueue receives) {
        return new EndpointSetup(sends, receives, shared, sharedId, sendDepth, receiveDepth,
                segments, inlineBytes, readDepth, sendId);
    }
}
