package lunar.rdma;

import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/**
 * Slice of a {@link MemoryPool}, owned by the caller that took it until it is given back. The pool has registered the
 * memory, so that posting a slice needs no registration.
 */
public final class MemorySlice extends RegisteredMemory implements AutoCloseable {
    private final Consumer<MemorySlice> home;

    /**
     * @param home takes the slice back once no operation uses it
     */
    MemorySlice(MemorySegment segment, MemoryRegion region, Consumer<MemorySlice> home) {
        super(region.domain(), segment, region.isWritable(), region.localKey(), region.remoteKey(),
                region.remoteAddress()
                        + segment.address() - region.address());
        this.home = home;
        endIfIdle(); // until it is taken
    }

    /**
     * Gives the slice back to its pool; it cannot be posted any more. The pool hands it out again once no posted
     * operation uses it. Any thread; idempotent until the pool hands the slice out again.
     */
    @Override
    public void close() { end(); }

    @Override
    void idle() { home.accept(this); }
}
