package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
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
import lunar.rdma.Rdma;
import lunar.rdma.WorkRequest;

/** A peer that sends arbitrary messages to an iSER portal, on the test's thread. */
final class RawIserPeer implements AutoCloseable, EndpointHandler {
    private static final int SLICE_BYTES = 64 << 10;
    private static final int DEPTH = 16;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final ProtectionDomain domain;
    private final EventChannel channel;
    private final CompletionQueue queue;
    private final MemoryPool pool;
    private final Endpoint endpoint;
    private final Completions batch = new Completions(DEPTH);

    RawIserPeer(int port, byte[] privateData) throws Exception {
        domain = Rdma.device(RdmaDevices.NEEDED).open();
        channel = domain.openChannel();
        queue = channel.createCompletionQueue(2 * DEPTH);
        pool = domain.createPool(DEPTH, SLICE_BYTES, Access.LOCAL);
        endpoint = channel.createEndpoint(EndpointOptions.of(queue).withDepth(DEPTH, DEPTH), this);
        for (int i = 0; i < DEPTH / 2; i++) {
            endpoint.post(new WorkRequest().receive().add(pool.take()));
        }
        endpoint.connect(new InetSocketAddress("127.0.0.1", port), privateData);
        runUntil(EndpointState.CONNECTED);
    }

    /** Sends a message. */
    void send(byte[] message) throws Exception {
        MemorySlice slice = pool.take();
        slice.segment().asSlice(0, message.length).copyFrom(MemorySegment.ofArray(message));
        endpoint.post(new WorkRequest().send().add(slice, 0, message.length));
    }

    /** Waits until the target has ended the connection. */
    void awaitEnd() throws Exception {
        runUntil(EndpointState.ERROR);
    }

    private void runUntil(EndpointState state) throws Exception {
        long start = System.nanoTime();
        while (endpoint.state() != state) {
            assertThat(System.nanoTime() - start).as("endpoint is %s", endpoint.state())
                    .isLessThan(PATIENCE.toNanos());
            channel.await(TimeUnit.SECONDS.toMillis(1));
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
