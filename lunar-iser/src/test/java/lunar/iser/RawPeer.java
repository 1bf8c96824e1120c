package lunar.iser;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.function.BooleanSupplier;
import lunar.rdma.Access;
import lunar.rdma.CompletionQueue;
import lunar.rdma.Completions;
import lunar.rdma.ConnectionException;
import lunar.rdma.Endpoint;
import lunar.rdma.EndpointHandler;
import lunar.rdma.EndpointOptions;
import lunar.rdma.EndpointState;
import lunar.rdma.EventChannel;
import lunar.rdma.MemoryPool;
import lunar.rdma.MemorySlice;
import lunar.rdma.ProtectionDomain;
import lunar.rdma.RemoteMemory;
import lunar.rdma.WorkRequest;

/** A peer that sends arbitrary messages, on the thread of the test. */
final class RawPeer implements AutoCloseable, EndpointHandler {
    private static final int SLICE_BYTES = 64 << 10;

    private final ProtectionDomain domain;
    private final EventChannel channel;
    private final CompletionQueue queue;
    private final MemoryPool pool;
    private final Endpoint endpoint;
    private final Completions batch = new Completions(16);

    RawPeer(InetSocketAddress portal, byte[] privateData) throws Exception {
        domain = TestPair.device().open();
        channel = domain.openChannel();
        queue = channel.createCompletionQueue(64);
        pool = domain.createPool(16, SLICE_BYTES, Access.ALL);
        endpoint = channel.createEndpoint(
                EndpointOptions.of(queue).withDepth(8, 8).withConnectTimeout(60_000), this);
        for (int i = 0; i < 4; i++) {
            endpoint.post(new WorkRequest().receive().add(pool.take()));
        }
        endpoint.connect(portal, privateData);
        runUntil(() -> endpoint.state() == EndpointState.CONNECTED);
    }

    /** Sends a message, unless the other end has ended the connection already. */
    void send(byte[] message) throws Exception {
        if (endpoint.state() != EndpointState.CONNECTED) {
            return;
        }
        MemorySlice slice = pool.take();
        slice.segment().asSlice(0, message.length).copyFrom(MemorySegment.ofArray(message));
        endpoint.post(new WorkRequest().send().add(slice, 0, message.length));
    }

    /** Returns memory that the other end may read and write. */
    RemoteMemory expose() {
        return pool.take().remote();
    }

    /** Waits until the other end has ended the connection. */
    void awaitEnd() throws Exception {
        runUntil(() -> endpoint.state() == EndpointState.ERROR);
    }

    /** Lets the device of this end work until a condition holds. */
    void runUntil(BooleanSupplier condition) throws Exception {
        long end = System.nanoTime() + 60_000_000_000L;
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("endpoint is %s", endpoint.state()).isLessThan(end);
            channel.await(100);
            int _ = queue.poll(batch);
        }
    }

    @Override
    public void established(Endpoint connected, byte[] privateData) {}

    @Override
    public void failed(Endpoint failed, ConnectionException cause) {
        throw new AssertionError(cause);
    }

    @Override
    public void disconnected(Endpoint gone) {}

    @Override
    public void close() {
        endpoint.close();
        channel.close();
        pool.close();
        domain.close();
    }
}
