package lunar.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests over libfabric's tcp that no memory is reused before a slow device has completed its operations. */
class DelayedCompletionTest {
    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(60);

    private HeldDevice device;
    private Side server;
    private Side client;
    private Endpoint near;
    private Endpoint far;

    @BeforeEach
    void connect() throws Exception {
        RdmaDevice below;
        try {
            below = Rdma.device("libfabric:tcp");
        } catch (RdmaUnavailableException e) {
            System.out.println("DelayedCompletionTest is skipped: " + e.getMessage());
            assumeTrue(false, e.getMessage());
            return;
        }
        device = new HeldDevice(below.provider());
        server = new Side(below);
        client = new Side(new RdmaDevice(device));
        Listener listener = server.listen(new InetSocketAddress("127.0.0.1", 0));
        near = client.endpoint();
        near.connect(listener.address(), new byte[0]);
        until("request", () -> !server.requests.isEmpty());
        far = server.requests.getFirst().createEndpoint(server.options(), server);
        server.requests.getFirst().accept(new byte[0]);
        until("connection", () -> near.state() == EndpointState.CONNECTED
                && far.state() == EndpointState.CONNECTED);
    }

    @AfterEach
    void close() {
        if (client != null) {
            client.close();
            server.close();
        }
    }

    private void until(String what, Callable<Boolean> condition) throws Exception {
        long end = System.nanoTime() + LIMIT_NANOS;
        while (!condition.call()) {
            server.pump();
            client.pump();
            if (System.nanoTime() - end > 0) {
                fail("not in time: " + what);
            }
        }
    }

    private void pumpSome() throws RdmaException {
        for (int i = 0; i < 100; i++) {
            server.pump();
            client.pump();
        }
    }

    @Test
    void shouldKeepMemoryOfSendUntilItsCompletion() throws Exception {
        device.hold();
        MemorySlice sent = client.slice("sent");
        MemorySlice received = server.slice("");
        far.post(server.work.receive().add(received));
        near.post(client.work.send().add(sent, 0, 5));
        until("message", () -> !server.done.isEmpty());
        pumpSome();

        assertThat(client.done).isEmpty();
        assertThat(sent.posted()).isEqualTo(1);
        sent.close();
        assertThat(client.pool.available()).isEqualTo(Side.SLICES - 1);
        assertThatThrownBy(() -> client.pool.close()).isInstanceOf(MemoryInUseException.class);

        device.release();
        until("completion", () -> !client.done.isEmpty());
        assertThat(client.pool.available()).isEqualTo(Side.SLICES);
    }

    @Test
    void shouldKeepMemoryOfReadUntilItsCompletion() throws Exception {
        MemorySlice source = server.slice("remote");
        try (Arena arena = Arena.ofShared()) {
            MemoryRegion into = client.domain.register(arena.allocate(64), Access.LOCAL);
            device.hold();
            near.post(client.work.read(source.remote()).add(into));
            until("data", () -> Side.text(into).equals("remote"));
            pumpSome();
            assertThatThrownBy(into::close).isInstanceOf(MemoryInUseException.class);
            assertThat(client.domain.use().regions()).isEqualTo(2);
            device.release();
            until("completion", () -> !client.done.isEmpty());
            into.close();
        }
        assertThat(client.domain.use().regions()).isEqualTo(1);
    }

    @Test
    void shouldKeepMemoryOfLostConnectionUntilItIsFlushed() throws Exception {
        MemorySlice receiving = client.pool.take();
        MemorySlice reading = client.pool.take();
        MemorySlice source = server.slice("remote");
        near.post(client.work.receive().add(receiving).context(1));
        device.hold();
        near.post(client.work.read(source.remote()).add(reading).context(2));
        far.close();
        until("end", () -> !client.disconnected.isEmpty());
        pumpSome();

        assertThat(near.state()).isEqualTo(EndpointState.ERROR);
        receiving.close();
        reading.close();
        assertThat(client.pool.available()).isEqualTo(Side.SLICES - 2);
        assertThat(near.postedReceives()).isEqualTo(1);

        device.release();
        until("flush", () -> client.done.size() == 2);
        assertThat(client.done).filteredOn(one -> one.context() == 1)
                .allMatch(one -> one.status() == CompletionStatus.FLUSHED).hasSize(1);
        assertThat(client.pool.available()).isEqualTo(Side.SLICES);
    }

    @Test
    void shouldReleaseMemoryWhenEndpointIsClosed() throws Exception {
        device.hold();
        MemorySlice receiving = client.pool.take();
        near.post(client.work.receive().add(receiving));
        near.disconnect();
        pumpSome();
        assertThat(receiving.posted()).isEqualTo(1);
        near.close(); // the device below accesses nothing from now on
        assertThat(receiving.posted()).isZero();
        assertThat(client.done).isEmpty();
        device.release();
        pumpSome();
        assertThat(client.done).isEmpty();
    }
}
