package lunar.rdma.verbs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import lunar.rdma.WorkRequest;

/**
 * Native memory for a list of struct ibv_recv_wr with their pieces. Posting copies them. Not for use by several threads
 * at a time.
 */
final class ReceiveSlots {
    private final MemorySegment memory;
    private final long address;
    private final long stride;
    private final int capacity;
    private int size;

    /**
     * @param capacity most requests
     * @param segments most pieces of a request
     */
    ReceiveSlots(int capacity, int segments) {
        this.capacity = capacity;
        stride = WorkLayouts.RECEIVE_BYTES + segments * WorkLayouts.SGE_BYTES;
        memory = Arena.ofAuto().allocate(capacity * stride + ADDRESS.byteSize(), Long.BYTES);
        address = memory.address();
    }

    /** Adds a request to the list; false if there is no room. */
    boolean add(WorkRequest request, long id) {
        if (size == capacity) {
            return false;
        }
        long at = size * stride;
        if (size > 0) {
            memory.set(JAVA_LONG, at - stride + WorkLayouts.RECEIVE_NEXT, address + at);
        }
        memory.set(JAVA_LONG, at + WorkLayouts.RECEIVE_WR_ID, id);
        memory.set(JAVA_LONG, at + WorkLayouts.RECEIVE_NEXT, 0);
        memory.set(JAVA_LONG, at + WorkLayouts.RECEIVE_SG_LIST,
                address + at + WorkLayouts.RECEIVE_BYTES);
        memory.set(JAVA_INT, at + WorkLayouts.RECEIVE_NUM_SGE, request.segments());
        Pieces.write(request, memory, at + WorkLayouts.RECEIVE_BYTES);
        size++;
        return true;
    }

    /** Makes a request the only one. */
    void set(WorkRequest request, long id) {
        size = 0;
        boolean _ = add(request, id);
    }

    boolean isEmpty() { return size == 0; }

    /** Address of the first struct of the list. */
    long address() { return address; }

    /** Address of the pointer to a request that was not posted. */
    long bad() {
        return address + capacity * stride;
    }
}
