package lunar.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Runs {@link RdmaContract} on libfabric's shm. */
class ShmFabricTest extends RdmaContract {
    @Override
    RdmaDevice device() throws RdmaUnavailableException { return Rdma.device("libfabric:shm"); }

    @Override
    int manyConnections() { return 200; } // libfabric maps and fills 16 MB for each

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
