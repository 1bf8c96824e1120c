package lunar.rdma.verbs;

import lunar.rdma.ProviderException;
import lunar.rdma.WorkRequest;
import lunar.rdma.spi.ProviderReceiveQueue;

/** A shared receive queue (struct ibv_srq). */
final class VerbsReceiveQueue implements ProviderReceiveQueue {
    private final NativeDomain domain;
    private final long address;
    private final ReceiveSlots slot;

    VerbsReceiveQueue(NativeDomain domain, long address, int segments) {
        this.domain = domain;
        this.address = address;
        slot = new ReceiveSlots(1, segments);
    }

    /** Address of the struct ibv_srq. */
    long address() { return address; }

    @Override
    public boolean post(WorkRequest request, long id) throws ProviderException {
        slot.set(request, id);
        return DataPath.isPosted("ibv_post_srq_recv",
                domain.dataPath().postSharedReceive(address, slot.address(), slot.bad()));
    }

    @Override
    public void close() { Closing.quietly(() -> domain.verbs().destroySharedReceives(address)); }
}
