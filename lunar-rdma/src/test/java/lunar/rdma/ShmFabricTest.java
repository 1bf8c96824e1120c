package lunar.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** Runs {@link RdmaContract} on libfabric's shm. */
class ShmFabricTest extends RdmaContract {
    private static final int LONG_BYTES = 60_000;

    @Override
    RdmaDevice device() throws RdmaUnavailableException { return Rdma.device("libfabric:shm"); }

    @Override
    int manyConnections() { return 200; } // libfabric maps and fills 16 MB for each

    private static void pumpUntil(Side side, BooleanSupplier condition) throws RdmaException {
        for (int i = 0; !condition.getAsBoolean(); i++) {
            assertThat(i).isLessThan(10_000_000);
            side.pump();
        }
    }

    /** A long message remains in the sender's memory until it is received, which is used otherwise after the close. */
    @Test
    void shouldNotReceiveLongMessageFromClosedEndpoint() throws Exception {
        Pair pair = connect();
        try (Arena arena = Arena.ofShared()) {
            MemoryRegion from = client.domain.register(arena.allocate(LONG_BYTES).fill((byte) 'a'),
                    Set.of());
            MemoryRegion to = server.domain.register(arena.allocate(LONG_BYTES), Access.ALL);
            pair.far().post(server.work.receive().add(to));
            pair.near().post(client.work.send().add(from));
            pair.near().close();
            from.segment().fill((byte) 'b');
            pumpUntil(server, () -> !server.disconnected.isEmpty());
            server.pump();
            assertThat(server.done).noneMatch(Side.Done::isSuccess);
            pair.far().close();
            from.close();
            to.close();
        }
    }

    @Test
    void shouldReceiveLongMessageWhoseSendHasCompletedBeforeTheClose() throws Exception {
        Pair pair = connect();
        try (Arena arena = Arena.ofShared()) {
            MemoryRegion from = client.domain.register(arena.allocate(LONG_BYTES).fill((byte) 'a'),
                    Set.of());
            MemoryRegion to = server.domain.register(arena.allocate(LONG_BYTES), Access.ALL);
            pair.far().post(server.work.receive().add(server.slice("")));
            pair.far().post(server.work.receive().add(to));
            pair.near().post(client.work.send().add(client.slice("short")));
            pair.near().post(client.work.send().add(from));
            var one = new Completions(1); // the copy of the long message completes beside this
            assertThat(server.queue.poll(one)).isEqualTo(1);
            pumpUntil(client, () -> client.done.size() == 2);
            assertThat(client.done).allMatch(Side.Done::isSuccess);
            pair.near().close();
            from.segment().fill((byte) 'b');
            pumpUntil(server, () -> !server.done.isEmpty());
            assertThat(server.next().isSuccess()).isTrue();
            assertThat(to.segment().get(ValueLayout.JAVA_BYTE, LONG_BYTES - 1))
                    .isEqualTo((byte) 'a');
            from.close();
            pair.far().close();
            to.close();
        }
    }

    @Test
    void shouldHaveWrittenWhenPosted() throws Exception {
        Pair pair = connect();
        int length = 8192;
        try (Arena arena = Arena.ofShared();
                MemoryRegion from = client.domain.register(arena.allocate(length), Set.of())) {
            MemoryRegion to = server.domain.register(arena.allocate(length), Access.ALL);
            from.segment().fill((byte) 'w');
            pair.near().post(client.work.write(to.remote()).add(from));
            assertThat(to.segment().mismatch(from.segment())).isEqualTo(-1); // the peer has done nothing
            to.close();
            to.segment().fill((byte) 0);
            until("completion", () -> !client.done.isEmpty());
            assertThat(client.next().isSuccess()).isTrue();
            assertThat(to.segment().get(ValueLayout.JAVA_BYTE, 0)).isZero();
        }
    }
}
