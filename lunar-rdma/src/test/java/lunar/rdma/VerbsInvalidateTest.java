package lunar.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import lunar.rdma.verbs.MemoryWindow;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests Send with Invalidate over verbs: the sender invalidates the key of a memory window of the receiver. */
class VerbsInvalidateTest extends RdmaFixture {
    private static final int BYTES = 64;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena.allocate(BYTES, 4096);
    private WatchedDevice device;
    private Endpoint near;
    private Endpoint far;

    @Override
    RdmaDevice device() throws RdmaUnavailableException { return Rdma.device("verbs"); }

    @Override
    InetSocketAddress local() {
        return server.domain.device().addresses().stream()
                .filter(address -> address instanceof Inet4Address).findFirst()
                .map(address -> new InetSocketAddress(address, 0)).orElseThrow();
    }

    @Override
    RdmaDevice clientDevice(RdmaDevice serverDevice) {
        device = new WatchedDevice(serverDevice.provider());
        return new RdmaDevice(device);
    }

    @BeforeEach
    void connectBoth() throws Exception {
        assumeTrue(server.domain.device().capabilities().contains(
                Capability.SEND_WITH_INVALIDATE), "device invalidates");
        Pair pair = connect();
        near = pair.near();
        far = pair.far();
    }

    @Override
    @AfterEach
    void close() {
        super.close();
        arena.close();
    }

    private MemoryWindow window() throws Exception {
        return new MemoryWindow(device.domains.getFirst(), device.endpoints.getFirst(), memory);
    }

    @Test
    void shouldInvalidateTheKeyOfTheReceiver() throws Exception {
        RemoteMemory remote;
        try (MemoryWindow window = window()) {
            remote = window.remote();
            far.post(server.work.write(remote).add(server.slice("written"), 0, 8));
            until("write", () -> server.done.size() == 1);
            assertThat(server.done.getFirst().isSuccess()).isTrue();
            assertThat(memory.getString(0)).isEqualTo("written");

            near.post(client.work.receive().add(client.slice("")));
            far.post(server.work.sendAndInvalidate(remote.key()).add(server.slice("done"), 0, 5));
            until("message", () -> !client.done.isEmpty());
            assertThat(client.done.getFirst().isSuccess()).isTrue();
            // rdma_rxe sets the kernel's flag (1 << 2) in the completion, which has another meaning in libibverbs.
            assertThat(client.done.getFirst().invalidatedKey()).isIn(remote.key(), 0);

            memory.fill((byte) 0);
            server.done.clear();
            far.post(server.work.write(remote).add(server.slice("again"), 0, 6));
            until("failure", () -> server.done.stream().anyMatch(one -> !one.isSuccess()));
            assertThat(server.done).filteredOn(one -> one.operation() == Operation.WRITE)
                    .singleElement().extracting(Side.Done::status)
                    .isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
            assertThat(memory.getString(0)).isEmpty();
            near.close();
        }
    }

    @Test
    void shouldEndConnectionThatInvalidatesKeyOfOtherMemory() throws Exception {
        near.post(client.work.receive().add(client.slice("")));
        int key = client.slice("registered, and no window").remote().key();
        far.post(server.work.sendAndInvalidate(key).add(server.slice("done"), 0, 5));
        until("failure", () -> far.state() == EndpointState.ERROR);
        assertThat(client.done).noneMatch(Side.Done::isSuccess);
    }
}
