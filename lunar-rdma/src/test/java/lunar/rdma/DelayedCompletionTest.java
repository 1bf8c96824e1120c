package lunar.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests over libfabric's tcp that no memory is reused before a slow device has completed its operations. */
class DelayedCompletionTest extends RdmaFixture {
    private HeldDevice device;
    private Endpoint near;
    private Endpoint far;

    @Override
    RdmaDevice device() throws RdmaUnavailableException { return Rdma.device("libfabric:tcp"); }

    @Override
    RdmaDevice clientDevice(RdmaDevice serverDevice) {
        device = new HeldDevice(serverDevice.provider());
        return new RdmaDevice(device);
    }

    @BeforeEach
    void connectBoth() throws Exception {
        Pair pair = connect();
        near = pair.near();
        far = pair.far();
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
