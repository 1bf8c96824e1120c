package lunar.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import lunar.rdma.WorkRequest;

/** Writes the memory segments of a request as an array of struct ibv_sge. */
final class Pieces {
    private Pieces() {}

    static void write(WorkRequest request, MemorySegment to, long offset) {
        long at = offset;
        for (int i = 0; i < request.segments(); i++) {
            to.set(JAVA_LONG, at + WorkLayouts.SGE_ADDR, request.address(i));
            to.set(JAVA_INT, at + WorkLayouts.SGE_LENGTH, request.length(i));
            to.set(JAVA_INT, at + WorkLayouts.SGE_LKEY, (int) request.memory(i).localKey());
            at += WorkLayouts.SGE_BYTES;
        }
    }
}
