package lunar.rdma;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Side of a connection in tests: a channel, a completion queue and memory, and what happened to them. */
final class Side implements AutoCloseable, EndpointHandler, ConnectionHandler {
    static final int SLICE_BYTES = 4096;
    static final int SLICES = 64;

    /** A completion, copied from the batch. */
    record Done(Endpoint endpoint, Operation operation, CompletionStatus status, int bytes,
            int code, long context, @Nullable Object attachment, int invalidatedKey) {
        boolean isSuccess() { return status == CompletionStatus.SUCCESS; }
    }

    final ProtectionDomain domain;
    final EventChannel channel;
    final CompletionQueue queue;
    final MemoryPool pool;
    final WorkRequest work = new WorkRequest();
    final List<Done> done = new ArrayList<>();
    final List<ConnectionRequest> requests = new ArrayList<>();
    final List<Endpoint> established = new ArrayList<>();
    final List<byte[]> privateData = new ArrayList<>();
    final List<ConnectionException> failures = new ArrayList<>();
    final List<Endpoint> disconnected = new ArrayList<>();
    private final Completions batch = new Completions(16);

    Side(RdmaDevice device) throws RdmaException {
        domain = device.open();
        channel = domain.openChannel();
        queue = channel.createCompletionQueue(512);
        pool = domain.createPool(SLICES, SLICE_BYTES, Access.ALL);
    }

    EndpointOptions options() {
        return EndpointOptions.of(queue).withDepth(16, 16).withConnectTimeout(30_000)
                .withInline(Math.min(64, domain.device().limits().maxInlineBytes()));
    }

    Endpoint endpoint() throws RdmaException { return channel.createEndpoint(options(), this); }

    Listener listen(InetSocketAddress address) throws RdmaException {
        return channel.listen(address, this);
    }

    /** Handles available events and completions. */
    void pump() throws RdmaException {
        channel.poll();
        drain();
    }

    void drain() throws RdmaException {
        for (int count; (count = queue.poll(batch)) > 0;) {
            for (int i = 0; i < count; i++) {
                Completion one = batch.get(i);
                done.add(new Done(one.endpoint(), one.operation(), one.status(), one.bytes(),
                        one.providerCode(), one.context(), one.attachment(),
                        one.invalidatedKey()));
            }
        }
    }

    /** Removes and returns the oldest completion; fails if there is none. */
    Done next() {
        return done.removeFirst();
    }

    MemorySlice slice(String text) {
        MemorySlice slice = pool.take();
        slice.segment().fill((byte) 0);
        slice.segment().setString(0, text);
        return slice;
    }

    static String text(RegisteredMemory memory) { return memory.segment().getString(0); }

    @Override
    public void requested(ConnectionRequest request) { requests.add(request); }

    @Override
    public void failed(RdmaException cause) { throw new AssertionError(cause); }

    @Override
    public void established(Endpoint endpoint, byte[] data) {
        established.add(endpoint);
        privateData.add(data);
    }

    @Override
    public void failed(Endpoint endpoint, ConnectionException cause) { failures.add(cause); }

    @Override
    public void disconnected(Endpoint endpoint) { disconnected.add(endpoint); }

    /** Closes everything; fails if memory is still in use after all endpoints are closed. */
    @Override
    public void close() {
        channel.close();
        pool.close();
        domain.close();
    }
}
