package lunar.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import lunar.rdma.ProviderException;

/**
 * Functions of the data path: posting work requests and polling completions. In C they are inline functions that call
 * through {@code ibv_context.ops}; this class calls through the same table. None of the functions blocks.
 */
final class DataPath {
    private static final MethodHandle POST = link(JAVA_LONG, JAVA_LONG,
            JAVA_LONG);
    private static final MethodHandle POLL = link(JAVA_LONG, JAVA_INT,
            JAVA_LONG);
    private static final MethodHandle NOTIFY = link(JAVA_LONG, JAVA_INT);

    private final MemorySegment postSend;
    private final MemorySegment postReceive;
    private final MemorySegment postSharedReceive;
    private final MemorySegment pollQueue;
    private final MemorySegment requestNotification;

    /** Reads the functions of a context. */
    DataPath(long context) {
        MemorySegment table = NativeLibrary.at(context, ObjectLayouts.CONTEXT.byteSize());
        postSend = function(table, ObjectLayouts.CONTEXT_POST_SEND);
        postReceive = function(table, ObjectLayouts.CONTEXT_POST_RECV);
        postSharedReceive = function(table, ObjectLayouts.CONTEXT_POST_SRQ_RECV);
        pollQueue = function(table, ObjectLayouts.CONTEXT_POLL_CQ);
        requestNotification = function(table, ObjectLayouts.CONTEXT_REQ_NOTIFY_CQ);
    }

    private static MemorySegment function(MemorySegment table, long offset) {
        return MemorySegment.ofAddress(table.get(JAVA_LONG, offset));
    }

    /** Links a critical function: the thread stays in Java state, so that a safepoint waits until the call returns. */
    @SuppressWarnings("restricted")
    private static MethodHandle link(MemoryLayout... arguments) {
        return Linker.nativeLinker().downcallHandle(FunctionDescriptor.of(JAVA_INT, arguments),
                Linker.Option.critical(false));
    }

    /**
     * ibv_post_send.
     *
     * @param first address of a list of struct ibv_send_wr
     * @param bad address of a pointer that is set to the first request that was not posted
     * @return 0 or an error number
     */
    int postSend(long queuePair, long first, long bad) {
        return post(postSend, queuePair, first, bad);
    }

    /** ibv_post_recv; see {@link #postSend}. */
    int postReceive(long queuePair, long first, long bad) {
        return post(postReceive, queuePair, first, bad);
    }

    /** ibv_post_srq_recv; see {@link #postSend}. */
    int postSharedReceive(long sharedQueue, long first, long bad) {
        return post(postSharedReceive, sharedQueue, first, bad);
    }

    private static int post(MemorySegment function, long queue, long first, long bad) {
        try {
            return (int) POST.invokeExact(function, queue, first, bad);
        } catch (Throwable e) {
            throw new AssertionError("ibv_post", e);
        }
    }

    /**
     * Checks the result of a post.
     *
     * @return false if the queue is full
     */
    static boolean isPosted(String function, int result) throws ProviderException {
        if (result == 0) {
            return true;
        }
        int errno = Math.abs(result);
        if (errno == Constants.ENOMEM) {
            return false;
        }
        throw Errno.failure(function, errno);
    }

    /**
     * ibv_poll_cq.
     *
     * @param completions address of an array of struct ibv_wc
     * @return number of completions, or negative for an error
     */
    int poll(long completionQueue, int limit, long completions) {
        try {
            return (int) POLL.invokeExact(pollQueue, completionQueue, limit, completions);
        } catch (Throwable e) {
            throw new AssertionError("ibv_poll_cq", e);
        }
    }

    /** ibv_req_notify_cq for completions of any kind: 0 or an error number. */
    int requestNotification(long completionQueue) {
        try {
            return (int) NOTIFY.invokeExact(requestNotification, completionQueue, 0);
        } catch (Throwable e) {
            throw new AssertionError("ibv_req_notify_cq", e);
        }
    }
}
