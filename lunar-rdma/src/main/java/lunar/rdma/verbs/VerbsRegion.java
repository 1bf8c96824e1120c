package lunar.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;
import lunar.rdma.spi.ProviderRegion;

/** A memory region (struct ibv_mr). Peers address it by virtual addresses. */
final class VerbsRegion implements ProviderRegion {
    private final VerbsCalls verbs;
    private final long region;
    private final long address;
    private final int localKey;
    private final int remoteKey;

    VerbsRegion(VerbsCalls verbs, long region, long address) {
        this.verbs = verbs;
        this.region = region;
        this.address = address;
        MemorySegment struct = NativeLibrary.at(region, ObjectLayouts.MEMORY.byteSize());
        localKey = struct.get(JAVA_INT, ObjectLayouts.MEMORY_LKEY);
        remoteKey = struct.get(JAVA_INT, ObjectLayouts.MEMORY_RKEY);
    }

    @Override
    public long localKey() { return localKey; }

    @Override
    public int remoteKey() { return remoteKey; }

    @Override
    public long remoteAddress() { return address; }

    @Override
    public void close() { Closing.quietly(() -> verbs.deregister(region)); }
}
