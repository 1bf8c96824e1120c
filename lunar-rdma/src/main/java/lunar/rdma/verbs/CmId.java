package lunar.rdma.verbs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import lunar.rdma.ProviderException;
import lunar.rdma.posix.SocketAddresses;

/** Creates ids (struct rdma_cm_id), and reads their fields. An id is known by its address. */
final class CmId {
    private CmId() {}

    /** Creates an id for reliable connections. */
    static long create(CmCalls cm, long channel) throws ProviderException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment id = arena.allocate(ADDRESS);
            cm.createId(channel, id.address(), 0, Constants.RDMA_PS_TCP);
            return id.get(JAVA_LONG, 0);
        }
    }

    private static MemorySegment struct(long id) {
        return NativeLibrary.at(id, CmLayouts.ID.byteSize());
    }

    /** Returns the context of the device; 0 while the device is not known. */
    static long context(long id) {
        return struct(id).get(JAVA_LONG, CmLayouts.ID_VERBS);
    }

    /** Returns the queue pair; 0 if there is none. */
    static long queuePair(long id) {
        return struct(id).get(JAVA_LONG, CmLayouts.ID_QP);
    }

    /** Returns the number of a queue pair, by which completions refer to it. */
    static int number(long queuePair) {
        return NativeLibrary.at(queuePair, ObjectLayouts.QUEUE_PAIR.byteSize()).get(JAVA_INT,
                ObjectLayouts.QUEUE_PAIR_NUMBER);
    }

    static InetSocketAddress localAddress(long id) { return address(id, CmLayouts.ID_SRC_ADDR); }

    static InetSocketAddress peerAddress(long id) { return address(id, CmLayouts.ID_DST_ADDR); }

    /** Returns an address; the wildcard address with port 0 if there is none yet. */
    private static InetSocketAddress address(long id, long offset) {
        return SocketAddresses.read(struct(id).asSlice(offset, SocketAddresses.MAX_BYTES))
                .orElse(new InetSocketAddress(0));
    }
}
