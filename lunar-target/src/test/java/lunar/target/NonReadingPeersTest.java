package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/**
 * Tests peers that send requests and do not read: each has its share of memory for responses, and others are not
 * affected.
 */
class NonReadingPeersTest {
    private static final int PEERS = 50;
    private static final int PING_BYTES = 8 << 10;
    private static final int CHUNK_BYTES = 64 << 10;

    /** Maximum queued bytes of one peer: its limit, the response that reached it, and the unused rest of a buffer. */
    private static final long MOST_BYTES = ServerLimits.DEFAULT.maxAnswerBytes() + 2 * CHUNK_BYTES;

    /** Queued bytes of the well-behaved session at the same time. */
    private static final long HONEST_BYTES = CHUNK_BYTES;

    @Test
    void shouldBoundEchoedPingsOfPeersThatDoNotRead() throws Exception {
        try (var target = new TargetFixture();
                var honest = target.ready(0)) {
            var deaf = new ArrayList<WirePeer>();
            try {
                for (int i = 0; i < PEERS; i++) {
                    WirePeer peer = new WirePeer(target.server, 0);
                    deaf.add(peer);
                    peer.initiator = "InitiatorName=iqn.2026-11.org.host:deaf" + i;
                    assertThat(peer.login(i % 3, 0, "MaxRecvDataSegmentLength=65536")).isZero();
                    Thread.ofVirtual().start(() -> pingOn(peer, new AtomicBoolean()));
                }
                TargetFixture.await("answers pile up", () -> target.server
                        .answerBytesInUse() > PEERS * ServerLimits.DEFAULT.maxAnswerBytes() / 2);
                for (int i = 0; i < 200; i++) {
                    assertThat(honest.read(i, 1)).hasSize(512);
                    assertThat(target.server.answerBytesInUse())
                            .isLessThanOrEqualTo(PEERS * MOST_BYTES + HONEST_BYTES);
                }
            } finally {
                for (WirePeer peer : deaf) {
                    peer.close();
                }
            }
        }
    }

    /** As many as it takes, for the kernel has room too; then one without data. Returns how many. */
    private static int pingOn(WirePeer peer, AtomicBoolean enough) {
        int count = 0;
        try {
            byte[] data = new byte[PING_BYTES];
            for (; !enough.get(); count++) {
                peer.ping(data);
            }
            peer.ping(new byte[0]);
        } catch (IOException e) {
            // The test is over.
        }
        return count;
    }

    @Test
    void shouldAnswerEverythingOnceAPeerReads() throws Exception {
        try (var target = new TargetFixture();
                var peer = WirePeer.loggedIn(target.server, 0, "MaxRecvDataSegmentLength=65536")) {
            var enough = new AtomicBoolean();
            var sent = CompletableFuture.supplyAsync(() -> pingOn(peer, enough));
            TargetFixture.await("its share is full", () -> target.server
                    .answerBytesInUse() >= ServerLimits.DEFAULT.maxAnswerBytes());
            enough.set(true);
            List<Integer> tags = new ArrayList<>();
            for (var answer = peer.takeBetweenPings(); answer.data().length > 0; answer = peer
                    .takeBetweenPings()) {
                assertThat(answer.data()).hasSize(PING_BYTES);
                tags.add(answer.itt());
            }
            assertThat(tags).hasSize(sent.join()).isSorted().doesNotHaveDuplicates();
        }
    }

    /** A request of 48 bytes may have an answer of thousands; one read brings a thousand such. */
    @Test
    void shouldAcceptNoMoreCommandsOfABatchThanItsShareAllows() throws Exception {
        try (var target = new TargetFixture();
                var peer = WirePeer.loggedIn(target.server, 0)) {
            var reader = Thread.ofVirtual().start(() -> readOn(peer));
            TargetFixture.await("its share is full", () -> target.server
                    .answerBytesInUse() >= ServerLimits.DEFAULT.maxAnswerBytes());
            try (var honest = target.ready(1)) {
                for (int i = 0; i < 100; i++) {
                    assertThat(honest.read(i, 1)).hasSize(512);
                    assertThat(target.server.answerBytesInUse())
                            .isLessThanOrEqualTo(MOST_BYTES + HONEST_BYTES);
                }
            }
            peer.close();
            reader.join();
        }
    }

    /** Until the test is over. */
    private static void readOn(WirePeer peer) {
        try {
            while (true) {
                peer.read(0, 8); // 4 KiB, which are copied
            }
        } catch (IOException e) {
            // It is.
        }
    }
}
