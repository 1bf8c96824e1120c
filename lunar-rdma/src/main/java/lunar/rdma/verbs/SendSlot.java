package lunar.rdma.verbs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import lunar.rdma.WorkRequest;

/**
 * Native memory for one struct ibv_send_wr with its pieces. Posting copies them, so that one slot serves a queue. Not
 * for use by several threads at a time.
 */
final class SendSlot {
    private final MemorySegment memory;
    private final long address;
    private final long bad;

    /**
     * @param segments most pieces of a request
     */
    SendSlot(int segments) {
        long bytes = WorkLayouts.SEND_BYTES + segments * WorkLayouts.SGE_BYTES;
        memory = Arena.ofAuto().allocate(bytes + ADDRESS.byteSize(), Long.BYTES);
        address = memory.address();
        bad = address + bytes;
        memory.set(JAVA_LONG, WorkLayouts.SEND_SG_LIST, address + WorkLayouts.SEND_BYTES);
    }

    /** Describes an operation. */
    void set(WorkRequest request, long id) {
        memory.set(JAVA_LONG, WorkLayouts.SEND_WR_ID, id);
        memory.set(JAVA_INT, WorkLayouts.SEND_NUM_SGE, request.segments());
        memory.set(JAVA_INT, WorkLayouts.SEND_OPCODE, switch (request.operation()) {
            case SEND -> Constants.IBV_WR_SEND;
            case SEND_INVALIDATE -> Constants.IBV_WR_SEND_WITH_INV;
            case WRITE -> Constants.IBV_WR_RDMA_WRITE;
            case READ -> Constants.IBV_WR_RDMA_READ;
            case RECEIVE -> throw new IllegalArgumentException("receive in a send queue");
        });
        memory.set(JAVA_INT, WorkLayouts.SEND_FLAGS,
                (request.isSignalled() ? Constants.IBV_SEND_SIGNALED : 0)
                        | (request.isInline() ? Constants.IBV_SEND_INLINE : 0));
        memory.set(JAVA_INT, WorkLayouts.SEND_INVALIDATE_RKEY, request.remoteKey());
        memory.set(JAVA_LONG, WorkLayouts.SEND_REMOTE_ADDR, request.remoteAddress());
        memory.set(JAVA_INT, WorkLayouts.SEND_RKEY, request.remoteKey());
        Pieces.write(request, memory, WorkLayouts.SEND_BYTES);
    }

    /** Address of the struct. */
    long address() { return address; }

    /** Address of the pointer to a request that was not posted. */
    long bad() { return bad; }
}
