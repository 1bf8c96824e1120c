package lunar.rdma;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import lunar.rdma.spi.ProviderRegion;

/**
 * Memory region: native memory that {@link ProtectionDomain#register} has registered with a protection domain.
 * Registration takes microseconds, and with most devices pins the pages: use a {@link MemoryPool} for buffers that are
 * used repeatedly.
 *
 * <p>The caller still owns the segment, and keeps its arena open until the region is closed.
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

    /** Returns the access rights of the registration. */
    public Set<Access> access() {
        return access;
    }

    /**
     * Deregisters the memory, which ends all remote access to it. Idempotent.
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
