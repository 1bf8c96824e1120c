package lunar.target.internal.task;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class UnacknowledgedTest {
    private static final int PING_BYTES = 64 << 10;
    private static final int PEERS = 20;

    private final RetransmissionMemory server = new RetransmissionMemory(1 << 20, 1 << 20);

    private static Unacknowledged.Sent ping(int statSn) {
        return new Unacknowledged.Sent(statSn, MemorySegment.NULL,
                MemorySegment.ofArray(new byte[PING_BYTES]), null, 0);
    }

    /** An initiator may ping with data, read the answers and acknowledge none. */
    @Test
    void shouldKeepEchoedPingsWithinItsLimitTheNewestOfThem() {
        var kept = new Unacknowledged(Long.MAX_VALUE, server);
        int count = 200;
        for (int statSn = 0; statSn < count; statSn++) {
            kept.add(ping(statSn));
        }
        List<Unacknowledged.Sent> left = kept.run(0, 0);
        assertThat(left).hasSize(
                Unacknowledged.MAX_HEAP_BYTES / (PING_BYTES + Unacknowledged.PDU_BYTES));
        assertThat(left.getLast().statSn()).isEqualTo(count - 1);

        kept.acknowledge(count - 1);
        assertThat(kept.run(0, 0)).hasSize(1);
        kept.acknowledge(count);
        kept.add(ping(count));
        assertThat(kept.run(0, 0)).as("what was given up does not count any more").hasSize(1);
        kept.close();
        assertThat(server.heapBytes()).isZero();
    }

    /** Many initiators that acknowledge nothing: what one cannot keep any more, it drops of its own. */
    @Test
    void shouldKeepEchoedPingsOfAllConnectionsWithinTheLimitOfTheServer() {
        var peers = new ArrayList<Unacknowledged>();
        for (int i = 0; i < PEERS; i++) {
            peers.add(new Unacknowledged(Long.MAX_VALUE, server));
            for (int statSn = 0; statSn < 3; statSn++) {
                peers.get(i).add(ping(statSn));
            }
            assertThat(server.heapBytes()).isPositive().isLessThanOrEqualTo(1 << 20);
        }
        assertThat(peers.getFirst().run(0, 0)).hasSize(3);
        assertThat(peers.getLast().run(0, 0)).isEmpty();
        peers.getFirst().keepTasks(); // its connection is lost
        peers.getLast().add(ping(3));
        assertThat(peers.getLast().run(3, 1)).hasSize(1);
        peers.forEach(Unacknowledged::close);
        assertThat(server.heapBytes()).isZero();
    }

    /** Such as the response to a logout that has ended its own connection. */
    @Test
    void shouldKeepNothingOfAClosedConnection() {
        var kept = new Unacknowledged(Long.MAX_VALUE, server);
        kept.close();
        kept.add(ping(0));
        assertThat(kept.run(0, 0)).isEmpty();
        assertThat(server.heapBytes()).isZero();
    }
}
