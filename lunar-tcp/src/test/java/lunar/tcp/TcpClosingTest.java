package lunar.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.Function;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.framing.Framing;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.spi.Transport.Release;
import lunar.iscsi.spi.Transport;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;

class TcpClosingTest {
    /** Makes a network; for the test of another kind of connections to override. */
    Network network(int loopCount, Framing framing, Function<Transport, Endpoint> server) {
        return new Network(loopCount, framing, server);
    }

    private static final MemorySegment LONG_DATA = Arena.ofAuto().allocate(64 * 1024);

    /** Rounds, where a connection that waits for its peer for 2 s may give it up. */
    private static final int MAX_ROUNDS = 10;

    /** Whether a connection that was closed after the start may have given its peer up. */
    private static boolean isLate(long startNs) {
        return System.nanoTime() - startNs > 1_900_000_000L;
    }

    private Network echoing() {
        return network(2, Network.LONG, transport -> new Endpoint(transport, Endpoint::echo));
    }

    @Test
    void shouldDeliverWhatIsQueuedBeforeItCloses() throws Exception {
        int count = 200;
        for (int round = 1;; round++) {
            try (var network = network(2, Network.LONG, Endpoint::new)) {
                Endpoint client = network.connect();
                Endpoint server = network.accepted();
                for (int i = 0; i < count; i++) {
                    client.send(i, i % 2 == 0 ? LONG_DATA : MemorySegment.NULL, Release.NOTHING);
                }
                long startNs = System.nanoTime();
                client.transport.close(); // without a flush
                client.awaitClosed();
                server.awaitClosed();
                if (server.cause != null && isLate(startNs) && round < MAX_ROUNDS) {
                    continue;
                }
                assertThat(server.tags).hasSize(count);
                assertThat(server.cause).isNull();
                assertThat(client.cause).isNull();
                network.close();
                assertThat(network.all).allSatisfy(end -> assertThat(end.closedCount).hasValue(1));
                assertThat(network.loops.chunksInUse()).isZero();
                return;
            }
        }
    }

    @Test
    void shouldReleaseOnceDespiteResetOrCloseWhileSending() throws Exception {
        long seed = Seed.next();
        var random = new Random(seed);
        int senders = 3;
        int count = 100;
        var released = new AtomicIntegerArray(20 * senders * count);
        try (var network = network(2, Network.LONG, Endpoint::new)) {
            for (int round = 0; round < 20; round++) {
                try (Socket peer = network.rawPeer()) {
                    Endpoint end = network.accepted();
                    int base = round * senders * count;
                    var halfWay = new CountDownLatch(random.nextInt(1, senders * count));
                    List<CompletableFuture<Void>> running = new ArrayList<>();
                    for (int sender = 0; sender < senders; sender++) {
                        int first = base + sender * count;
                        running.add(CompletableFuture.runAsync(() -> {
                            for (int i = first; i < first + count; i++) {
                                int index = i;
                                MemorySegment data = LONG_DATA.asSlice(0, i % 3 == 0 ? 100 : 65536);
                                end.send(i, data, () -> released.incrementAndGet(index));
                                end.transport.flush();
                                halfWay.countDown();
                            }
                        }, Thread::startVirtualThread));
                    }
                    Endpoint.await(halfWay, "half of the PDUs");
                    switch (round % 3) {
                        case 0 -> end.transport.close();
                        case 1 -> {
                            peer.setSoLinger(true, 0); // makes a reset of the close
                            peer.close();
                        }
                        default -> peer.close();
                    }
                    for (CompletableFuture<Void> sender : running) {
                        sender.get(60, TimeUnit.SECONDS);
                    }
                    end.awaitClosed();
                }
            }
            network.close();
            for (int i = 0; i < released.length(); i++) {
                assertThat(released.get(i)).as("releases of %d, seed %d", i, seed).isEqualTo(1);
            }
            assertThat(network.all).hasSize(20)
                    .allSatisfy(end -> assertThat(end.closedCount).hasValue(1));
            assertThat(network.loops.chunksInUse()).isZero();
        }
    }

    @Test
    void shouldReportTheCauseOfAReset() throws Exception {
        try (var network = network(1, Network.LONG, Endpoint::new)) {
            Socket peer = network.rawPeer();
            Endpoint end = network.accepted();
            peer.setSoLinger(true, 0);
            peer.close();
            end.awaitClosed();
            assertThat(end.cause).isInstanceOf(IOException.class);
        }
    }

    /** A peer that reads nothing until the connection has ended: what it then finds is what had left us before. */
    @Test
    void shouldSendNothingMoreOnceAborted() throws Exception {
        try (var network = network(1, Network.LONG, Endpoint::new);
                Socket peer = network.rawPeer()) {
            Endpoint end = network.accepted();
            var released = new AtomicInteger();
            for (int i = 0; i < 200; i++) { // more than the socket buffers of both ends hold
                end.send(i, LONG_DATA, released::incrementAndGet);
            }
            end.transport.flush();
            end.transport.abort();
            end.awaitClosed();
            assertThat(drainUntilReset(peer)).isLessThan(200L * LONG_DATA.byteSize());
            network.close();
            assertThat(released).hasValue(200);
            assertThat(network.loops.chunksInUse()).isZero();
        }
    }

    @Test
    void shouldResetWhenAnOpenerIsLeftByItsPeerWithPdusQueued() throws Exception {
        try (var network = network(1, Network.LONG, Endpoint::new);
                var listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Endpoint[] made = new Endpoint[1];
            network.loops.connect((InetSocketAddress) listening.getLocalSocketAddress(), 10_000,
                    transport -> {
                        transport.framing(Network.LONG);
                        made[0] = new Endpoint(transport);
                        return made[0];
                    });
            try (Socket peer = listening.accept()) {
                for (int i = 0; i < 200; i++) {
                    made[0].send(i, LONG_DATA, Release.NOTHING);
                }
                made[0].transport.flush();
                peer.shutdownOutput();
                made[0].awaitClosed();
                assertThat(drainUntilReset(peer)).isLessThan(200L * LONG_DATA.byteSize());
            }
        }
    }

    /** Bytes that came before the reset; fails where there is an end in order. */
    static long drainUntilReset(Socket peer) throws IOException {
        peer.setSoTimeout(60_000);
        long bytes = 0;
        byte[] piece = new byte[64 * 1024];
        try {
            for (int got = peer.getInputStream().read(piece); got >= 0; got = peer
                    .getInputStream().read(piece)) {
                bytes += got;
            }
        } catch (SocketException _) {
            return bytes;
        }
        throw new AssertionError("ended in order after " + bytes + " bytes");
    }

    @Test
    void shouldDistinguishAnOrderlyEndFromOneInsideAPdu() throws Exception {
        try (var network = network(1, Network.LONG, Endpoint::new)) {
            byte[] header = Endpoint.header(1, 100).toArray(ValueLayout.JAVA_BYTE);
            for (int length : new int[]{20, 48}) { // amid the header, amid the data
                Socket peer = network.rawPeer();
                Endpoint end = network.accepted();
                peer.getOutputStream().write(header, 0, length);
                peer.close();
                end.awaitClosed();
                assertThat(end.cause).isInstanceOf(EOFException.class);
                assertThat(end.tags).isEmpty();
            }
            Socket peer = network.rawPeer();
            Endpoint end = network.accepted();
            peer.getOutputStream().write(header);
            peer.getOutputStream().write(new byte[100]);
            peer.close();
            end.awaitClosed();
            assertThat(end.cause).isNull();
            assertThat(end.tags).containsExactly(1);
        }
    }

    @Test
    void shouldAnswerAPeerThatHasClosedItsHalf() throws Exception {
        int count = 100;
        for (int round = 1;; round++) {
            try (var network = network(1, Network.LONG,
                    transport -> new Endpoint(transport, (self, _, _) -> {
                        for (int i = 0; i < count; i++) {
                            self.send(i, LONG_DATA, Release.NOTHING);
                        }
                    }));
                    Socket peer = network.rawPeer()) {
                Endpoint end = network.accepted();
                long startNs = System.nanoTime();
                peer.getOutputStream().write(Endpoint.header(1, 0).toArray(ValueLayout.JAVA_BYTE));
                peer.shutdownOutput();
                try {
                    readAnswers(peer, count);
                } catch (IOException e) {
                    if (isLate(startNs) && round < MAX_ROUNDS) {
                        continue;
                    }
                    throw e;
                }
                end.awaitClosed();
                assertThat(end.cause).isNull();
                return;
            }
        }
    }

    /** Reads so many PDUs and the end in order. */
    private static void readAnswers(Socket peer, int count) throws IOException {
        var in = new DataInputStream(peer.getInputStream());
        byte[] header = new byte[Bhs.LENGTH];
        for (int i = 0; i < count; i++) {
            in.readFully(header);
            Bhs bhs = new Bhs().wrap(MemorySegment.ofArray(header));
            assertThat(bhs.itt()).isEqualTo(i);
            in.skipNBytes(bhs.dataSegmentLength());
        }
        assertThat(in.read()).isEqualTo(-1);
    }

    @Test
    void shouldEndOnlyTheConnectionWhoseReceiverThrows() throws Exception {
        try (var network = network(1, Network.LONG,
                transport -> new Endpoint(transport, (self, bhs, data) -> {
                    switch (bhs.itt()) {
                        case -1 -> throw new ProtocolException("no such PDU");
                        case -2 -> throw new IllegalStateException("a bug");
                        case -3 -> throw new AssertionError("a bug");
                        default -> Endpoint.echo(self, bhs, data);
                    }
                }))) {
            Endpoint other = network.connect();
            Endpoint _ = network.accepted();
            other.ping(1);
            for (int tag = -1; tag >= -3; tag--) {
                Endpoint client = network.connect();
                Endpoint server = network.accepted();
                client.ping(1);
                client.send(2);
                client.send(tag);
                client.send(3);
                client.transport.flush();
                server.awaitClosed();
                client.awaitClosed();
                assertThat(server.cause).isNotNull();
                assertThat(server.tags).containsExactly(1, 2);
                other.ping(10 - tag);
            }
            network.close();
            assertThat(network.all).allSatisfy(end -> assertThat(end.closedCount).hasValue(1));
        }
    }

    @Test
    void shouldAnswerBeforeItEndsForAProtocolError() throws Exception {
        try (var network = network(1, Network.LONG,
                transport -> new Endpoint(transport, (self, bhs, data) -> {
                    Endpoint.echo(self, bhs, data);
                    throw new ProtocolException("enough");
                }))) {
            Endpoint client = network.connect();
            client.ping(5);
            client.awaitClosed();
            assertThat(client.cause).isNull();
            Endpoint server = network.accepted();
            server.awaitClosed();
            assertThat(server.cause).isInstanceOf(ProtocolException.class);
        }
    }

    @Test
    void shouldEndOnAPduOverTheLimit() throws Exception {
        try (var network = echoing()) {
            Endpoint client = network.connect();
            MemorySegment tooLong = Arena.ofAuto().allocate((1 << 20) + 1);
            client.send(1, tooLong, Release.NOTHING);
            client.transport.flush();
            Endpoint server = network.accepted();
            server.awaitClosed();
            client.awaitClosed();
            assertThat(server.cause).isInstanceOf(ProtocolException.class);
        }
    }

    @Test
    void shouldDeliverNothingAfterCloseFromInsideReceived() throws Exception {
        try (var network = network(1, Network.LONG,
                transport -> new Endpoint(transport, (self, bhs, data) -> {
                    Endpoint.echo(self, bhs, data);
                    if (bhs.itt() == 3) {
                        self.transport.close();
                        self.transport.close();
                        self.transport.flush();
                    }
                }))) {
            Endpoint client = network.connect();
            Endpoint server = network.accepted();
            for (int i = 1; i <= 100; i++) {
                client.send(i);
            }
            client.transport.flush();
            server.awaitClosed();
            client.awaitClosed();
            assertThat(server.tags).containsExactly(1, 2, 3);
            assertThat(server.closedInsideReceived).isFalse();
            assertThat(client.tags).containsExactly(1, 2, 3);
            assertThat(server.cause).isNull();
        }
    }

    @Test
    void shouldReportAnEndDetectedWhileSendingOnlyAfterwards() throws Exception {
        var gone = new CountDownLatch(1);
        try (var network = network(1, Network.LONG,
                transport -> new Endpoint(transport, (self, _, _) -> {
                    try {
                        Endpoint.await(gone, "the peer's reset");
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                    for (int i = 0; i < 100; i++) {
                        self.send(i, LONG_DATA, Release.NOTHING);
                        self.transport.flush(); // fails sooner or later
                    }
                }))) {
            Socket peer = network.rawPeer();
            Endpoint end = network.accepted();
            peer.getOutputStream().write(Endpoint.header(1, 0).toArray(ValueLayout.JAVA_BYTE));
            peer.setSoLinger(true, 0);
            peer.close();
            gone.countDown();
            end.awaitClosed();
            assertThat(end.closedInsideReceived).isFalse();
        }
    }

    @Test
    void shouldDeliverNothingAndReleaseAfterTheEnd() throws Exception {
        var released = new AtomicInteger();
        Endpoint client;
        try (var network = echoing()) {
            client = network.connect();
            client.ping(1);
            client.transport.close();
            client.awaitClosed();
            client.send(2, LONG_DATA, released::incrementAndGet);
            client.transport.flush();
            assertThat(released).hasValue(1);
        }
        client.transport.close();
        client.send(3, LONG_DATA, released::incrementAndGet);
        client.transport.flush();
        assertThat(released).hasValue(2);
        assertThat(client.closedCount).hasValue(1);
    }

    @Test
    void shouldCloseConnectionsClosedByTheirCreator() throws Exception {
        try (var network = network(1, Network.LONG, transport -> {
            var end = new Endpoint(transport);
            end.send(9);
            transport.close();
            return end;
        })) {
            Endpoint client = network.connect();
            client.awaitClosed();
            assertThat(client.tags).containsExactly(9);
            network.accepted().awaitClosed();
            network.close();
            assertThat(network.all).allSatisfy(end -> assertThat(end.closedCount).hasValue(1));
        }
    }
}
