package lunar.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import lunar.rdma.CompletionStatus;
import lunar.rdma.ProviderException;
import lunar.rdma.spi.ProviderQueue;
import lunar.rdma.spi.RawCompletions;

/** A completion queue (struct ibv_cq). */
final class VerbsQueue implements ProviderQueue {
    private static final int BATCH = 32;

    private final VerbsChannel channel;
    private final DataPath dataPath;
    private final long address;
    private final MemorySegment batch = Arena.ofAuto().allocate(
            BATCH * WorkLayouts.COMPLETION_BYTES,
            Long.BYTES);
    private final long batchAddress = batch.address();
    /** Endpoints that take shared receives, by the numbers of their queue pairs. */
    private final QueuePairNumbers takers = new QueuePairNumbers();

    VerbsQueue(VerbsChannel channel, DataPath dataPath, long address) {
        this.channel = channel;
        this.dataPath = dataPath;
        this.address = address;
    }

    /** Address of the struct ibv_cq. */
    long address() { return address; }

    QueuePairNumbers takers() { return takers; }

    @Override
    public int poll(RawCompletions into) throws ProviderException {
        int found = dataPath.poll(address, Math.min(into.room(), BATCH), batchAddress);
        if (found == 0) {
            takers.removeRetired();
        }
        if (found < 0) {
            throw Errno.failure("ibv_poll_cq", -found);
        }
        for (int i = 0; i < found; i++) {
            move(i * WorkLayouts.COMPLETION_BYTES, into);
        }
        return found;
    }

    /** Moves a completion. If it is not a success, only its id, status and queue pair number are valid. */
    private void move(long at, RawCompletions into) {
        long id = batch.get(JAVA_LONG, at + WorkLayouts.COMPLETION_WR_ID);
        int code = batch.get(JAVA_INT, at + WorkLayouts.COMPLETION_STATUS);
        CompletionStatus status = CompletionStatuses.of(code);
        boolean success = status == CompletionStatus.SUCCESS;
        int length = success ? batch.get(JAVA_INT, at + WorkLayouts.COMPLETION_BYTE_LEN) : 0;
        int key = success && isInvalidation(at)
                ? batch.get(JAVA_INT, at + WorkLayouts.COMPLETION_INVALIDATED_RKEY)
                : 0;
        if (id < 0) { // ids of shared receives have the upper bit set
            int taker = takers.get(batch.get(JAVA_INT, at + WorkLayouts.COMPLETION_QP_NUM));
            into.addShared(id, taker, status, length, code, key);
        } else if (!success) {
            into.addResult(id, status, code);
        } else if (key != 0) {
            into.addInvalidated(id, length, key);
        } else {
            into.add(id, length);
        }
    }

    private boolean isInvalidation(long at) {
        return (batch.get(JAVA_INT, at + WorkLayouts.COMPLETION_OPCODE)
                & Constants.IBV_WC_RECV) != 0
                && (batch.get(JAVA_INT, at + WorkLayouts.COMPLETION_FLAGS)
                        & Constants.IBV_WC_WITH_INV) != 0;
    }

    @Override
    public boolean isCheapToPoll() { return true; }

    @Override
    public boolean arm() throws ProviderException {
        int error = dataPath.requestNotification(address);
        if (error != 0) {
            throw Errno.failure("ibv_req_notify_cq", error);
        }
        return true;
    }

    @Override
    public void close() { channel.destroy(address); }
}
