package lunar.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Threads that create and connect endpoints of a channel while the thread of the channel closes them. */
class ConnectWhileClosingTest {
    private static final InetSocketAddress PEER = new InetSocketAddress("127.0.0.1", 1);

    private final ScriptedDevice device = new ScriptedDevice();
    private final List<String> calls = new ArrayList<>();

    @Test
    void shouldEndConnectionAfterTheConnectThatIsInProgress() throws Exception {
        try (var side = new Side(new RdmaDevice(device))) {
            Endpoint endpoint = side.endpoint();
            ScriptedDevice.End end = device.ends.getFirst();
            var isConnecting = new CountDownLatch(1);
            var isClosed = new CompletableFuture<Void>();
            end.whileConnecting = () -> {
                isConnecting.countDown();
                calls.add("connect");
                try { // the close must not overtake this
                    isClosed.get(100, TimeUnit.MILLISECONDS);
                } catch (Exception e) {
                    calls.add("connected");
                }
            };
            end.whileAborting = () -> calls.add("abort");
            end.whileClosing = () -> calls.add("close");
            var connecting = CompletableFuture.runAsync(() -> {
                try {
                    endpoint.connect(PEER, new byte[0]);
                } catch (RdmaException e) {
                    throw new AssertionError(e);
                }
            }, Thread.ofPlatform().daemon()::start);
            assertThat(isConnecting.await(60, TimeUnit.SECONDS)).isTrue();
            endpoint.close();
            isClosed.complete(null);
            connecting.get(60, TimeUnit.SECONDS);
            assertThat(calls).containsExactly("connect", "connected", "abort", "close");
            assertThat(endpoint.state()).isEqualTo(EndpointState.CLOSED);
        }
    }

    @Test
    void shouldCloseEndpointThatIsBeingCreated() throws Exception {
        var isCreating = new CountDownLatch(1);
        var mayCreate = new CountDownLatch(1);
        device.whileCreating = () -> {
            isCreating.countDown();
            try {
                mayCreate.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        };
        var side = new Side(new RdmaDevice(device));
        var creating = CompletableFuture.supplyAsync(() -> {
            try {
                return side.endpoint();
            } catch (RdmaException e) {
                throw new AssertionError(e);
            }
        }, Thread.ofPlatform().daemon()::start);
        assertThat(isCreating.await(60, TimeUnit.SECONDS)).isTrue();
        var closing = CompletableFuture.runAsync(side::close, Thread.ofPlatform().daemon()::start);
        Thread.sleep(20); // in most runs, the close waits by then
        mayCreate.countDown();
        closing.get(60, TimeUnit.SECONDS);
        assertThat(creating.get(60, TimeUnit.SECONDS).state()).isEqualTo(EndpointState.CLOSED);
    }
}
