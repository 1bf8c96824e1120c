package lunar.iser;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.iscsi.spi.LoopOptions;
import lunar.iser.memory.DeviceMemory;
import lunar.iser.memory.RegisteredPools;
import lunar.rdma.Access;
import lunar.rdma.Capability;
import lunar.rdma.CompletionQueue;
import lunar.rdma.DeviceLimits;
import lunar.rdma.EndpointOptions;
import lunar.rdma.MemoryUse;
import lunar.rdma.ProtectionDomain;
import lunar.rdma.RdmaDevice;
import lunar.rdma.RdmaException;

/** An open RDMA device with its registered memory and the event loops of its connections. Thread-safe. */
final class DeviceLoops {
    /** Depth of an endpoint's send and receive queues: enough for a command window, its responses, and some more. */
    private static final int DEPTH = 512;

    /** RDMA Reads in flight in each direction; devices usually support 16. */
    private static final int READS = 16;

    private final ProtectionDomain domain;
    private final DeviceMemory memory;
    private final List<IserSource> sources = new ArrayList<>();
    private final AtomicInteger turn = new AtomicInteger();

    DeviceLoops(String name, LoopOptions options, RdmaDevice device) throws RdmaException {
        domain = device.open();
        memory = new DeviceMemory(domain);
        boolean started = false;
        try {
            for (int i = 0; i < options.count(); i++) {
                sources.add(IserSource.start(name + "-iser-" + i, domain, options.polling()));
            }
            started = true;
        } finally {
            if (!started) {
                close();
            }
        }
    }

    DeviceMemory memory() { return memory; }

    MemoryUse use() { return domain.use(); }

    boolean canInvalidate() {
        return domain.device().capabilities().contains(Capability.SEND_WITH_INVALIDATE);
    }

    IserSource nextSource() {
        return sources.get(Math.floorMod(turn.getAndIncrement(), sources.size()));
    }

    boolean isOwnThread() { return sources.stream().anyMatch(source -> source.loop().inLoop()); }

    /** Returns the options for a new endpoint of an event loop. */
    EndpointOptions endpoint(IserSource source, int timeoutMs) throws RdmaException {
        DeviceLimits limits = domain.device().limits();
        int sends = Math.min(DEPTH, limits.maxSendDepth());
        int receives = Math.min(DEPTH, limits.maxReceiveDepth());
        CompletionQueue queue = source.queueFor(sends + receives);
        return EndpointOptions.of(queue).withDepth(sends, receives).withSegments(1)
                .withReadDepth(READS).withConnectTimeout(timeoutMs);
    }

    void stop() { sources.forEach(source -> source.ownLoop().stop()); }

    /**
     * Stops the event loops, waits until they have ended, then closes the device. Called by a thread of these loops, it
     * only stops them.
     */
    void close() {
        stop();
        // A loop that waited for another loop could deadlock: that one may wait for it.
        if (!isOwnThread()) {
            sources.forEach(source -> source.ownLoop().awaitEnd());
            memory.close();
            domain.close();
        }
    }

    /** Registers memory that is used by many commands. */
    RegisteredPools.Pool register(MemorySegment segment) throws RdmaException {
        return memory.pools().add(segment, Access.LOCAL);
    }
}
