package lunar.rdma.probe;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.HashSet;
import java.util.Set;
import lunar.rdma.Access;
import lunar.rdma.Completion;
import lunar.rdma.CompletionQueue;
import lunar.rdma.CompletionStatus;
import lunar.rdma.Completions;
import lunar.rdma.ConnectionException;
import lunar.rdma.ConnectionRequest;
import lunar.rdma.Endpoint;
import lunar.rdma.EndpointHandler;
import lunar.rdma.EndpointOptions;
import lunar.rdma.EndpointState;
import lunar.rdma.EventChannel;
import lunar.rdma.MemoryPool;
import lunar.rdma.MemoryRegion;
import lunar.rdma.MemorySlice;
import lunar.rdma.Operation;
import lunar.rdma.OperationException;
import lunar.rdma.ProtectionDomain;
import lunar.rdma.RdmaException;
import lunar.rdma.WorkRequest;
import org.jspecify.annotations.Nullable;

/** One end of a connection whose round trips or bandwidth are measured. For one thread at a time. */
final class ProbeEnd implements EndpointHandler, AutoCloseable {
    /** Most messages in flight in each direction. */
    static final int DEPTH = 16;
    /** Number of messages that a sink acknowledges together. */
    static final int BATCH = 8;

    /** Polls without a completion before the thread sleeps: about a millisecond. */
    private static final int SPINS = 20_000;
    private static final int SPINS_PER_LOOK = 512;
    private static final long SLEEP_MS = 100;

    /** Creates the endpoint. */
    @FunctionalInterface
    private interface Factory {
        Endpoint create(EventChannel channel, EndpointOptions options, EndpointHandler handler)
                throws RdmaException;
    }

    private final ProtectionDomain domain;
    private final ProbeTask task;
    private final Arena arena = Arena.ofShared();
    private final EventChannel channel;
    private final CompletionQueue queue;
    private final MemoryPool receives;
    private final MemoryPool copies;
    private final MemoryRegion memory;
    private final MemorySegment unregistered;
    private final Endpoint endpoint;
    private final WorkRequest work = new WorkRequest();
    private final Completions batch = new Completions(DEPTH);
    private byte[] array;
    /** Memory that is registered for sends that have not completed. */
    private final Set<MemoryRegion> pins = new HashSet<>();
    private int inFlight;
    private long received;
    private int empty;
    private @Nullable ConnectionException failure;

    private ProbeEnd(ProtectionDomain domain, ProbeTask task, Factory factory)
            throws RdmaException {
        this.domain = domain;
        this.task = task;
        int bytes = task.messageBytes();
        array = new byte[bytes];
        channel = domain.openChannel();
        MemoryPool receiving = null;
        MemoryPool copying = null;
        MemoryRegion region = null;
        boolean opened = false;
        try {
            queue = channel.createCompletionQueue(2 * DEPTH);
            receives = receiving = domain.createPool(DEPTH, bytes, Access.LOCAL);
            copies = copying = domain.createPool(DEPTH, bytes, Access.LOCAL);
            memory = region = domain.register(arena.allocate(bytes, 4096), Set.of());
            unregistered = arena.allocate(bytes, 4096);
            endpoint = factory.create(channel, EndpointOptions.of(queue).withDepth(DEPTH, DEPTH),
                    this);
            for (int i = 0; i < DEPTH; i++) {
                postReceive(receives.take());
            }
            opened = true;
        } finally {
            if (!opened) {
                channel.close();
                close(receiving);
                close(copying);
                if (region != null) {
                    region.close();
                }
                arena.close();
            }
        }
    }

    private static void close(@Nullable MemoryPool pool) {
        if (pool != null) {
            pool.close();
        }
    }

    /** Connects to a {@link Responder}. */
    static ProbeEnd connect(ProtectionDomain domain, InetSocketAddress address, ProbeTask task)
            throws RdmaException {
        var end = new ProbeEnd(domain, task, EventChannel::createEndpoint);
        try {
            return end.establish(() -> end.endpoint.connect(address, task.encode()));
        } catch (ConnectionException e) {
            throw new ConnectionException(address.getHostString() + ":" + address.getPort() + ": "
                    + e.getMessage(), e.reason());
        }
    }

    static ProbeEnd accept(ProtectionDomain domain, ConnectionRequest request, ProbeTask task)
            throws RdmaException {
        try {
            var end = new ProbeEnd(domain, task, request::createEndpoint);
            return end.establish(() -> request.accept(new byte[0]));
        } finally {
            request.rejectIfUnanswered();
        }
    }

    /** Starts to establish a connection. */
    @FunctionalInterface
    private interface Start {
        void run() throws RdmaException;
    }

    private ProbeEnd establish(Start start) throws RdmaException {
        boolean established = false;
        try {
            start.run();
            while (endpoint.state() == EndpointState.CONNECTING) {
                channel.await(SLEEP_MS);
            }
            requireConnected();
            established = true;
            return this;
        } finally {
            if (!established) {
                close();
            }
        }
    }

    ProbeTask task() { return task; }

    /** Number of messages that have been received. */
    long received() { return received; }

    boolean isConnected() { return endpoint.state() == EndpointState.CONNECTED; }

    @Override
    public void established(Endpoint of, byte[] privateData) {}

    @Override
    public void failed(Endpoint of, ConnectionException cause) { failure = cause; }

    @Override
    public void disconnected(Endpoint of) {
        failure = new ConnectionException("the peer has ended the connection",
                ConnectionException.Reason.LOST);
    }

    private void requireConnected() throws ConnectionException {
        if (failure != null) {
            throw failure;
        }
        if (!isConnected()) {
            throw new ConnectionException("the connection has ended",
                    ConnectionException.Reason.LOST);
        }
    }

    /** Sends a message of some bytes by the variant of the task; waits while {@link #DEPTH} are in flight. */
    void send(int bytes) throws RdmaException {
        while (inFlight == DEPTH) {
            poll();
        }
        requireConnected();
        switch (task.variant()) {
            case COPY, COPY_ALLOC -> {
                MemorySlice slice = copies.take();
                MemorySegment.copy(array, 0, slice.segment(), ValueLayout.JAVA_BYTE, 0, bytes);
                work.send().add(slice, 0, bytes).attachment(slice);
            }
            case ZERO_COPY -> work.send().add(memory, 0, bytes);
            case PIN -> {
                MemoryRegion pinned = domain.register(unregistered.asSlice(0, bytes), Set.of());
                pins.add(pinned);
                work.send().add(pinned, 0, bytes).attachment(pinned);
            }
        }
        endpoint.post(work);
        inFlight++;
    }

    /** Handles available completions. After many calls without any, sleeps until there are some. */
    void poll() throws RdmaException {
        int count = queue.poll(batch);
        if (count == 0) {
            idle();
            return;
        }
        empty = 0;
        for (int i = 0; i < count; i++) {
            complete(batch.get(i));
        }
    }

    private void idle() throws RdmaException {
        if (++empty >= SPINS) {
            channel.await(SLEEP_MS);
            requireConnected();
        } else if (empty % SPINS_PER_LOOK == 0) {
            channel.poll();
            requireConnected();
        } else {
            Thread.onSpinWait();
        }
    }

    private void complete(Completion one) throws RdmaException {
        if (one.operation() == Operation.RECEIVE) {
            var slice = (MemorySlice) one.attachment();
            if (slice != null && one.isSuccess()) {
                deliver(slice, one.bytes());
                postReceive(slice);
                received++;
            }
        } else {
            inFlight--;
            switch (one.attachment()) {
                case MemorySlice copied -> copied.close();
                case MemoryRegion pinned -> {
                    pins.remove(pinned);
                    pinned.close();
                }
                case null, default -> {
                }
            }
        }
        if (!one.isSuccess()) {
            if (one.status() != CompletionStatus.FLUSHED) {
                throw new OperationException(one.operation() + " with " + endpoint.peer(),
                        one.status());
            }
            channel.poll(); // reports why the connection has ended
        }
    }

    private void deliver(MemorySlice slice, int bytes) {
        switch (task.variant()) {
            case COPY -> MemorySegment.copy(slice.segment(), ValueLayout.JAVA_BYTE, 0, array, 0,
                    bytes);
            case COPY_ALLOC -> {
                var fresh = new byte[bytes];
                MemorySegment.copy(slice.segment(), ValueLayout.JAVA_BYTE, 0, fresh, 0, bytes);
                if (bytes == array.length) {
                    array = fresh; // keeps the allocation in use: the next send is from it
                }
            }
            case ZERO_COPY, PIN -> {
            }
        }
    }

    private void postReceive(MemorySlice slice) throws RdmaException {
        endpoint.post(work.receive().add(slice).attachment(slice));
    }

    @Override
    public void close() {
        channel.close();
        pins.forEach(MemoryRegion::close); // of sends whose completions were not polled
        receives.close();
        copies.close();
        memory.close();
        arena.close();
    }
}
