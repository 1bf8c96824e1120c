package lunar.rdma.libfabric;

import static lunar.rdma.posix.Structs.offset;

import java.lang.foreign.MemorySegment;
import lunar.rdma.DeviceLimits;
import lunar.rdma.WorkRequest;

/**
 * Native memory where a work request is laid out for libfabric: arrays of pieces and descriptors, and the structs of
 * fi_sendmsg(3) and fi_writemsg(3). Used by one post at a time.
 */
final class Scratch {
    static final long ALIGNMENT = 64;

    private static final long IOVEC_BYTES = Layouts.IOVEC.byteSize();
    private static final long LENGTH = offset(Layouts.IOVEC, "iov_len");
    private static final long DESCRIPTORS = DeviceLimits.MAX_SEGMENTS * IOVEC_BYTES;
    private static final long MESSAGE = DESCRIPTORS + DeviceLimits.MAX_SEGMENTS * 8L;
    private static final long REMOTE = MESSAGE + Layouts.MSG_RMA.byteSize();
    /** Length of the memory. */
    static final long BYTES = Math.ceilDiv(REMOTE + Layouts.RMA_IOV.byteSize(), ALIGNMENT)
            * ALIGNMENT;

    private static final long MSG_COUNT = offset(Layouts.MSG, "iov_count");
    private static final long MSG_ADDRESS = offset(Layouts.MSG, "addr");
    private static final long MSG_CONTEXT = offset(Layouts.MSG, "context");
    private static final long RMA_COUNT = offset(Layouts.MSG_RMA, "iov_count");
    private static final long RMA_ADDRESS = offset(Layouts.MSG_RMA, "addr");
    private static final long RMA_CONTEXT = offset(Layouts.MSG_RMA, "context");
    private static final long RMA_REMOTE = offset(Layouts.MSG_RMA, "rma_iov");
    private static final long RMA_REMOTE_COUNT = offset(Layouts.MSG_RMA, "rma_iov_count");
    private static final long RMA_IOV_LENGTH = offset(Layouts.RMA_IOV, "len");
    private static final long RMA_IOV_KEY = offset(Layouts.RMA_IOV, "key");

    private final long base;

    /**
     * @param memory of {@link #BYTES}; remains alive while this is used
     */
    Scratch(MemorySegment memory) {
        base = memory.address();
        // Both structs begin with the pointers to the arrays.
        Memory.word(base + MESSAGE, base);
        Memory.word(base + MESSAGE + 8, base + DESCRIPTORS);
    }

    /** Address of the array of pieces. */
    long pieces() { return base; }

    /** Address of the array of descriptors. */
    long descriptors() { return base + DESCRIPTORS; }

    /** Lays out the pieces and descriptors. */
    void fill(WorkRequest request) {
        int count = request.segments();
        for (int i = 0; i < count; i++) {
            long piece = base + i * IOVEC_BYTES;
            Memory.word(piece, request.address(i));
            Memory.word(piece + LENGTH, request.length(i));
            Memory.word(base + DESCRIPTORS + i * 8L, request.memory(i).localKey());
        }
    }

    /**
     * Lays out a message.
     *
     * @return address of the {@code struct fi_msg}
     */
    long message(WorkRequest request, long peer, long id) {
        fill(request);
        long message = base + MESSAGE;
        Memory.word(message + MSG_COUNT, request.segments());
        Memory.word(message + MSG_ADDRESS, peer);
        Memory.word(message + MSG_CONTEXT, id);
        return message;
    }

    /**
     * Lays out an RDMA operation.
     *
     * @return address of the {@code struct fi_msg_rma}
     */
    long remote(WorkRequest request, long peer, long id) {
        fill(request);
        long message = base + MESSAGE;
        Memory.word(message + RMA_COUNT, request.segments());
        Memory.word(message + RMA_ADDRESS, peer);
        Memory.word(message + RMA_REMOTE, base + REMOTE);
        Memory.word(message + RMA_REMOTE_COUNT, 1);
        Memory.word(message + RMA_CONTEXT, id);
        Memory.word(base + REMOTE, request.remoteAddress());
        Memory.word(base + REMOTE + RMA_IOV_LENGTH, request.bytes());
        Memory.word(base + REMOTE + RMA_IOV_KEY, Integer.toUnsignedLong(request.remoteKey()));
        return message;
    }
}
