package lunar.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.DataInputStream;
import java.lang.foreign.MemorySegment;
import java.net.Socket;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.spi.Transport.Release;
import org.junit.jupiter.api.Test;

/** Tests that peers that do not read and have exhausted the memory for output affect no other connection. */
class ExhaustedOutputMemoryTest {
    /** A quarter of this is 256 chunks. */
    private static final long DIRECT_BYTES = 64L << 20;
    private static final int MOST = 256;

    /** Copied, and with its header just about a chunk. */
    private static final MemorySegment DATA = MemorySegment
            .ofArray(new byte[Chunks.SIZE - 2 * Bhs.LENGTH]);

    private static Network network() {
        return new Network(2, Network.LONG, Endpoint::new, new Chunks(() -> DIRECT_BYTES));
    }

    /** Our end of the connection made last, once its loop is done with it: from then on it writes at a flush only. */
    private static Endpoint accepted(Network network) throws InterruptedException {
        Endpoint end = network.accepted();
        end.awaitLoop();
        return end;
    }

    /** Queues chunks without sending any, as if the socket took nothing. */
    private static void fill(Endpoint end, int chunks) {
        for (int i = 0; i < chunks; i++) {
            end.send(i, DATA, Release.NOTHING);
        }
    }

    /** A connection that holds nothing gets memory, whenever it asks. */
    private static void assertOthersServed(Network network) throws Exception {
        try (Socket honest = network.rawPeer()) {
            Endpoint end = accepted(network);
            for (int i = 0; i < 3; i++) {
                end.send(i);
                end.transport.flush();
                new DataInputStream(honest.getInputStream()).readFully(new byte[Bhs.LENGTH]);
            }
            assertThat(end.closedCount).hasValue(0);
        }
    }

    @Test
    void shouldEndTheConnectionThatHoldsAll() throws Exception {
        try (var network = network(); Socket _ = network.rawPeer()) {
            Endpoint greedy = accepted(network);
            fill(greedy, MOST);
            assertOthersServed(network);
            greedy.awaitClosed();
            assertThat(greedy.cause).hasMessageContaining("memory for output");
        }
    }

    @Test
    void shouldEndOnlyTheConnectionThatHoldsMost() throws Exception {
        try (var network = network(); Socket _ = network.rawPeer()) {
            Endpoint most = accepted(network);
            try (Socket _ = network.rawPeer()) {
                Endpoint less = accepted(network);
                fill(less, MOST * 3 / 8);
                fill(most, MOST * 5 / 8);
                assertOthersServed(network);
                most.awaitClosed();
                assertThat(less.closedCount).hasValue(0);
            }
        }
    }

    @Test
    void shouldEndTheOldestAmongTheLargestHolders() throws Exception {
        try (var network = network(); Socket _ = network.rawPeer()) {
            Endpoint first = accepted(network);
            try (Socket _ = network.rawPeer()) {
                Endpoint second = accepted(network);
                fill(first, MOST / 2);
                fill(second, MOST / 2);
                assertOthersServed(network);
                first.awaitClosed();
                assertThat(second.closedCount).hasValue(0);
            }
        }
    }
}
