package lunar.rdma.libfabric;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import lunar.rdma.ProviderException;
import lunar.rdma.posix.WaitSet;
import lunar.rdma.spi.ProviderQueue;
import lunar.rdma.spi.RawCompletions;

/** A completion queue with a file descriptor to wait for. */
final class FabricQueue implements ProviderQueue {
    private final FabricDomain domain;
    private final WaitSet waits;
    private final Arena arena;
    private final CompletionReader reader;
    private final CompletionReader.Source source;
    private final int descriptor;
    private final MemorySegment trywait;
    /** Array of one object, for fi_trywait(3). */
    private final MemorySegment fids;

    private final Runnable armed;

    /**
     * @param waits wait set for its descriptor
     * @param armed called before a wait
     */
    FabricQueue(FabricDomain domain, int depth, WaitSet waits, Runnable armed)
            throws ProviderException {
        this.domain = domain;
        this.waits = waits;
        this.armed = armed;
        source = new CompletionReader.Source(
                CompletionReader.open(domain, depth, Numbers.FI_WAIT_FD));
        arena = Arena.ofShared();
        reader = new CompletionReader(arena.allocate(CompletionReader.BYTES, 64));
        trywait = Fid.function(domain.fabric(), Layouts.FABRIC, "ops", Layouts.OPS_FABRIC,
                "trywait");
        fids = arena.allocateFrom(ValueLayout.JAVA_LONG, source.fid());
        descriptor = Fid.descriptor(source.fid());
        waits.add(descriptor);
    }

    long fid() { return source.fid(); }

    @Override
    public int poll(RawCompletions into) throws ProviderException {
        int before = into.size();
        reader.read(source, into);
        return into.size() - before;
    }

    @Override
    public boolean arm() {
        armed.run();
        return Calls.trywait(trywait, domain.fabric(), fids.address(), 1) == 0;
    }

    @Override
    public void close() {
        waits.remove(descriptor);
        Fid.closeFreely(source.fid(), "completion queue");
        arena.close();
    }
}
