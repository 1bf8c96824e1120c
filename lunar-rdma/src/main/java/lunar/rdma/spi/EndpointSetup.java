package lunar.rdma.spi;

import org.jspecify.annotations.Nullable;

/**
 * Settings from which a provider makes an endpoint; within the limits of the device.
 *
 * @param shared where its receives are taken from; null for a queue of its own
 * @param sharedId names this endpoint in {@link RawCompletions#addShared}; also the upper half of the identities of
 *        operations that are posted to its own receive queue
 * @param sendDepth most sends, writes and reads posted at a time
 * @param receiveDepth most receives posted at a time
 * @param segments most pieces of memory in one work request
 * @param inlineBytes longest inline message
 * @param readDepth most RDMA reads of each direction in flight
 * @param sendId upper half of the identities of operations that are posted to its send queue
 */
public record EndpointSetup(ProviderQueue sendQueue, ProviderQueue receiveQueue,
        @Nullable ProviderReceiveQueue shared, int sharedId, int sendDepth, int receiveDepth,
        int segments, int inlineBytes, int readDepth, int sendId) {}
