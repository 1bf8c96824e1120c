package lunar.rdma;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import lunar.rdma.spi.ProviderRegion;

/**
 * Native memory that is registered with a protection domain, made by {@link ProtectionDomain#register}. Registering
 * costs microseconds and pins the pages with most devices: use a {@link MemoryPool} for what is used again and again.
 *
 * <p>The segment remains the caller's, and its arena must stay open until the region is closed. Memory of
 * {@link ProtectionDomain#createPool} cannot be freed too early.
 */
public final class MemoryRegion extends RegisteredMemory implements AutoCloseable {
    private final ProviderRegion registration;
    private final Set<Access> access;
    private final Runnable closed;

    /**
     * @param closed called once the region is deregistered
     */
    MemoryRegion(DomainId domain, MemorySegment segment, Set<Access> access,
            ProviderRegion registration,
            Runnable closed) {
        super(domain, segment, access.contains(Access.LOCAL_WRITE), registration.localKey(),
                registration.remoteKey(), registration.remoteAddress());
        this.access = Set.copyOf(access);
        this.registration = registration;
        this.closed = closed;
    }

    /** Returns the rights that the memory is registered with. */
    public Set<Access> access() {
        return access;
    }

    /**
     * Deregisters the memory: remote access ends with this call. Idempotent.
     *
     * @throws MemoryInUseException if a posted operation uses it; the region remains open
     */
    @Override
    public void close() {
        if (endIfIdle()) {
            registration.close();
            closed.run();
        } else if (!hasEnded()) {
            throw new MemoryInUseException("memory of " + byteSize()
                    + " bytes is not deregistered: " + posted() + " posted operations use it");
        }
    }

    @Override
    void idle() { throw new AssertionError("a region ends only while it is idle"); }
}
