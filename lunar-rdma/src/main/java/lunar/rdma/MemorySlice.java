package lunar.rdma;

import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/**
 * Piece of fixed length of a {@link MemoryPool}, owned by its taker. Registered with its pool: using it costs
 * nothing.
 */
public final class MemorySlice extends RegisteredMemory implements AutoCloseable {
    private final Consumer<MemorySlice> home;

    /**
     * @param home takes the slice back
     */
    MemorySlice(MemorySegment segment, MemoryRegion region, Consumer<MemorySlice> home) {
        super(region.domain(), segment, region.isWritable(), region.localKey(), region.remoteKey(),
                region.remoteAddress()
                        + segment.address() - region.address());
        this.home = home;
        endIfIdle(); // until it is taken
    }

    /**
     * Gives the slice back. The pool hands it out again when no posted operation uses it any more; nothing can be
     * posted with it from now on. Any thread; idempotent until the pool hands it out again.
     */
    @Override
    public void close() { end(); }

    @Override
    void idle() { home.accept(this); }
}
