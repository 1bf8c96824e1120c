package lunar.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import lunar.rdma.ProviderException;

/** Finds the longest inline message of a device. No attribute says it: queue pairs are created until one succeeds. */
final class InlineProbe {
    private static final int[] LENGTHS = {512, 256, 128, 64, 32};

    private InlineProbe() {}

    /** Returns the length in bytes, one of a few; 0 for none. */
    static int longest(VerbsCalls verbs, long context) throws ProviderException {
        long domain = verbs.allocateDomain(context);
        try {
            long queue = verbs.createQueue(context, 2, 0, 0, 0);
            try {
                for (int length : LENGTHS) {
                    if (isPossible(verbs, domain, queue, length)) {
                        return length;
                    }
                }
                return 0;
            } finally {
                verbs.destroyQueue(queue);
            }
        } finally {
            verbs.freeDomain(domain);
        }
    }

    private static boolean isPossible(VerbsCalls verbs, long domain, long queue, int length)
            throws ProviderException {
        long pair;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(AttributeLayouts.QP_INIT);
            attributes.set(JAVA_LONG, AttributeLayouts.QP_INIT_SEND_CQ, queue);
            attributes.set(JAVA_LONG, AttributeLayouts.QP_INIT_RECV_CQ, queue);
            attributes.set(JAVA_INT, AttributeLayouts.QP_INIT_MAX_SEND_WR, 1);
            attributes.set(JAVA_INT, AttributeLayouts.QP_INIT_MAX_RECV_WR, 1);
            attributes.set(JAVA_INT, AttributeLayouts.QP_INIT_MAX_SEND_SGE, 1);
            attributes.set(JAVA_INT, AttributeLayouts.QP_INIT_MAX_RECV_SGE, 1);
            attributes.set(JAVA_INT, AttributeLayouts.QP_INIT_MAX_INLINE_DATA, length);
            attributes.set(JAVA_INT, AttributeLayouts.QP_INIT_QP_TYPE, Constants.IBV_QPT_RC);
            pair = verbs.createQueuePair(domain, attributes.address());
        } catch (ProviderException _) {
            return false;
        }
        verbs.destroyQueuePair(pair);
        return true;
    }
}
