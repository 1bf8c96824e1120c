package lunar.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.DataInputStream;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.Socket;
import java.nio.channels.SelectionKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import lunar.iscsi.framing.Framing;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.spi.Transport;
import lunar.iscsi.spi.Transport.Release;
import lunar.loop.EventSourceLoop;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;

class TcpTransportTest {
    /** Makes a network; for the test of another kind of connections to override. */
    Network network(int loopCount, Framing framing, Function<Transport, Endpoint> server) {
        return new Network(loopCount, framing, server);
    }

    private static final int SENDERS = 4;
    private static final int PDUS = 60;
    private static final int LONGEST_BYTES = 300 * 1024;
    private static final Framing DIGESTS = new Framing(true, true, 1 << 20, 0);

    /** Content of a PDU, which both ends can make from its tag. */
    private static byte[] content(long seed, int tag) {
        var random = new Random(seed * 31 + tag);
        byte[] bytes = new byte[switch (random.nextInt(4)) {
            case 0 -> 0;
            case 1 -> random.nextInt(100);
            case 2 -> random.nextInt(10_000);
            default -> random.nextInt(LONGEST_BYTES + 1);
        }];
        random.nextBytes(bytes);
        return bytes;
    }

    /** Compares what comes with what was sent; now and then it wants the data in memory of its own. */
    private static final class Comparing extends Endpoint {
        final AtomicReference<String> wrong = new AtomicReference<>();
        final CountDownLatch left = new CountDownLatch(SENDERS * PDUS);
        private final int[] next = new int[SENDERS];
        private final long seed;

        Comparing(Transport transport, long seed) {
            super(transport);
            this.seed = seed;
        }

        @Override
        public MemorySegment dataDestination(Bhs bhs, MemorySegment ahs, int length) {
            return bhs.itt() % 3 == 0 ? MemorySegment.NULL : Arena.ofAuto().allocate(length);
        }

        @Override
        public void received(Bhs bhs, MemorySegment ahs, MemorySegment data) {
            int sender = bhs.itt() >>> 16;
            int number = bhs.itt() & 0xffff;
            if (number != next[sender]++) {
                wrong.compareAndSet(null, "PDU " + number + " of sender " + sender);
            }
            MemorySegment expected = MemorySegment.ofArray(content(seed, bhs.itt()));
            if (data.byteSize() != expected.byteSize() || data.mismatch(expected) != -1) {
                wrong.compareAndSet(null, "data of PDU " + number + " of sender " + sender);
            }
            left.countDown();
        }
    }

    @Test
    void shouldSendPdusOfSeveralThreadsCompletelyAndInOrder() throws Exception {
        long seed = Seed.next();
        try (var network = network(2, DIGESTS, transport -> new Comparing(transport, seed))) {
            Endpoint client = network.connect(DIGESTS, Endpoint::new);
            var server = (Comparing) network.accepted();
            var released = new AtomicIntegerArray(SENDERS * PDUS);
            var toRelease = new CountDownLatch(SENDERS * PDUS);
            List<CompletableFuture<Void>> senders = new ArrayList<>();
            for (int sender = 0; sender < SENDERS; sender++) {
                int number = sender;
                senders.add(CompletableFuture.runAsync(() -> {
                    var random = new Random(seed + number);
                    for (int i = 0; i < PDUS; i++) {
                        int index = number * PDUS + i;
                        int tag = number << 16 | i;
                        MemorySegment data = MemorySegment.ofArray(content(seed, tag));
                        if (random.nextBoolean()) {
                            data = Arena.ofAuto().allocate(data.byteSize()).copyFrom(data);
                        }
                        client.send(tag, data, () -> {
                            released.incrementAndGet(index);
                            toRelease.countDown();
                        });
                        if (random.nextInt(3) == 0) {
                            client.transport.flush();
                        }
                    }
                    client.transport.flush();
                }, Thread::startVirtualThread));
            }
            for (CompletableFuture<Void> sender : senders) {
                sender.get(60, TimeUnit.SECONDS);
            }
            Endpoint.await(server.left, "all PDUs, seed " + seed);
            Endpoint.await(toRelease, "all releases, seed " + seed);
            assertThat(server.wrong.get()).as("seed %d", seed).isNull();
            client.awaitLoop();
            assertThat(client.transport.queuedBytes()).as("seed %d", seed).isZero();
            network.close();
            for (int i = 0; i < released.length(); i++) {
                assertThat(released.get(i)).as("releases of %d, seed %d", i, seed).isEqualTo(1);
            }
            assertThat(network.loops.chunksInUse()).as("seed %d", seed).isZero();
        }
    }

    @Test
    void shouldServeOthersOfTheLoopWhileAPeerDoesNotRead() throws Exception {
        int count = 100;
        int length = 256 * 1024;
        MemorySegment data = Arena.ofAuto().allocate(length);
        try (var network = network(1, Network.LONG,
                transport -> new Endpoint(transport, Endpoint::echo));
                Socket slow = network.rawPeer()) {
            Endpoint stuck = network.accepted();
            var released = new AtomicInteger();
            var all = new CountDownLatch(count);
            for (int i = 0; i < count; i++) {
                stuck.send(i, data, () -> {
                    released.incrementAndGet();
                    all.countDown();
                });
                stuck.transport.flush();
            }
            assertThat(stuck.transport.queuedBytes()).isPositive();
            // Small answers share chunks, however often they are flushed without result.
            for (int i = 0; i < 2000; i++) {
                stuck.send(count + i);
                stuck.transport.flush();
            }
            assertThat(network.loops.chunksInUse()).isBetween(1, 10);

            Endpoint other = network.connect();
            for (int i = 0; i < 100; i++) {
                other.ping(i);
            }
            assertThat(stuck.transport.queuedBytes()).isPositive();
            assertThat(released.get()).isLessThan(count);

            var in = new DataInputStream(slow.getInputStream());
            for (int i = 0; i < count + 2000; i++) {
                Bhs bhs = new Bhs().wrap(MemorySegment.ofArray(in.readNBytes(Bhs.LENGTH)));
                assertThat(bhs.itt()).isEqualTo(i);
                in.skipNBytes(bhs.dataSegmentLength());
            }
            Endpoint.await(all, "releases");
            stuck.awaitLoop();
            assertThat(stuck.transport.queuedBytes()).isZero();
            assertThat(network.loops.chunksInUse()).isZero();
            assertThat(interestOf(stuck)).as("a drained connection waits for input only")
                    .isEqualTo(SelectionKey.OP_READ);
            assertThat(released.get()).isEqualTo(count);
        }
    }

    /** Returns the interest set of the selector, queried on the loop's own thread. */
    private static int interestOf(Endpoint end) throws Exception {
        var ops = new CompletableFuture<Integer>();
        var loop = (EventSourceLoop) end.transport.loop();
        var source = (SelectorSource) loop.source();
        loop.execute(() -> source.selector().keys().stream()
                .filter(key -> key.attachment() == end.transport).findFirst()
                .ifPresent(key -> ops.complete(key.interestOps())));
        return ops.get(60, TimeUnit.SECONDS);
    }

    @Test
    void shouldHoldNoChunksForIdleConnections() throws Exception {
        try (var network = network(2, Network.LONG,
                transport -> new Endpoint(transport, Endpoint::echo))) {
            List<Endpoint> ends = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                Endpoint end = network.connect();
                end.ping(i);
                ends.add(end);
            }
            for (Endpoint end : network.all) {
                end.awaitLoop();
                assertThat(end.transport.queuedBytes()).isZero();
            }
            assertThat(network.loops.chunksInUse()).isZero();
            for (Endpoint end : ends) {
                end.ping(7);
            }
        }
    }

    @Test
    void shouldStopReadingFromInsideReceivedAndContinueLater() throws Exception {
        int count = 1000;
        MemorySegment data = Arena.ofAuto().allocate(64 * 1024);
        var paused = new CountDownLatch(1);
        try (var network = network(2, Network.LONG,
                transport -> new Endpoint(transport, (self, bhs, _) -> {
                    if (bhs.itt() == 3) {
                        self.transport.reading(false);
                        paused.countDown();
                    }
                }))) {
            Endpoint client = network.connect();
            Endpoint server = network.accepted();
            for (int i = 0; i < count; i++) {
                client.send(i, data, Release.NOTHING);
            }
            client.transport.flush();
            Endpoint.await(paused, "the pause");
            server.awaitLoop();
            client.awaitLoop();
            assertThat(interestOf(server)).isZero();
            assertThat(client.transport.queuedBytes()).isPositive();
            assertThat(server.tags).hasSizeBetween(4, 10);
            server.transport.loop().execute(() -> server.transport.reading(true));
            for (int i = 0; i < count; i++) {
                assertThat(server.tags.poll(60, TimeUnit.SECONDS)).isEqualTo(i);
            }
        }
    }

    @Test
    void shouldHoldReceivedPdusUntilReadingResumes() throws Exception {
        try (var network = network(2, Network.LONG,
                transport -> new Endpoint(transport, (self, _, _) -> {
                    self.transport.reading(false);
                }))) {
            Endpoint client = network.connect();
            Endpoint server = network.accepted();
            for (int i = 0; i < 5; i++) {
                client.send(i);
            }
            client.transport.flush();
            client.transport.close();
            for (int i = 0; i < 5; i++) { // though nothing more comes from the network, and the peer has left
                assertThat(server.tags.poll(60, TimeUnit.SECONDS)).isEqualTo(i);
                server.awaitLoop();
                assertThat(server.tags).isEmpty();
                assertThat(server.closedCount.get()).isZero();
                server.transport.loop().execute(() -> server.transport.reading(true));
            }
            server.awaitClosed();
            assertThat(server.cause).isNull();
        }
    }

    @Test
    void shouldAnswerFromInsideReceivedAndFromReleases() throws Exception {
        MemorySegment data = Arena.ofAuto().allocate(64 * 1024);
        // A release that sends in turn, as a target does which waits for room.
        try (var network = network(1, Network.LONG,
                transport -> new Endpoint(transport, (self, bhs, _) -> {
                    int tag = bhs.itt();
                    self.send(tag, data, () -> {
                        self.send(tag + 1);
                        self.transport.flush();
                    });
                    self.transport.flush();
                }))) {
            Endpoint client = network.connect();
            for (int i = 0; i < 50; i++) {
                client.send(2 * i);
                client.transport.flush();
                assertThat(client.tags.poll(60, TimeUnit.SECONDS)).isEqualTo(2 * i);
                assertThat(client.tags.poll(60, TimeUnit.SECONDS)).isEqualTo(2 * i + 1);
            }
        }
    }

    @Test
    void shouldNotSendAPduWhoseDataCannotBeRead() throws Exception {
        try (var network = network(1, DIGESTS,
                transport -> new Endpoint(transport, Endpoint::echo))) {
            Endpoint client = network.connect(DIGESTS, Endpoint::new);
            MemorySegment gone;
            try (Arena arena = Arena.ofShared()) {
                gone = arena.allocate(20_000);
            }
            var released = new AtomicInteger();
            for (MemorySegment data : List.of(gone, gone.asSlice(0, 100))) {
                assertThatIllegalStateException()
                        .isThrownBy(() -> client.send(1, data, released::incrementAndGet));
            }
            client.ping(2);
            assertThat(released.get()).isZero();
        }
    }

    @Test
    void shouldPutDigestsAndPaddingOnTheWire() throws Exception {
        try (var network = network(1, DIGESTS, Endpoint::new);
                Socket peer = network.rawPeer()) {
            Endpoint end = network.accepted();
            // 32 bytes of zeros and of ones: the examples of RFC 7143 appendix A.4.
            MemorySegment zeros = MemorySegment.ofArray(new byte[32]);
            byte[] ones = new byte[32];
            Arrays.fill(ones, (byte) 0xff);
            end.send(1, zeros, Release.NOTHING);
            end.send(2, MemorySegment.ofArray(ones), Release.NOTHING);
            end.send(3, MemorySegment.ofArray(new byte[29]),
                    Release.NOTHING);
            end.transport.flush();
            InputStream in = peer.getInputStream();
            for (String digest : List.of("aa36918a", "43aba862", "aa36918a")) {
                byte[] wire = in.readNBytes(48 + 4 + 32 + 4);
                assertThat(HexFormat.of().formatHex(wire, 84, 88)).isEqualTo(digest);
            }
        }
    }
}
