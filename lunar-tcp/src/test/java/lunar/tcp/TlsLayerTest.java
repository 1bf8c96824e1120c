package lunar.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import lunar.testkit.Seed;
import lunar.testkit.TestCertificates;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TlsLayerTest {
    /** Turns after which nothing more is expected to happen. */
    private static final int MAX_TURNS = 1_000_000;

    @TempDir
    Path directory;
    private TestCertificates certificates;
    private final TlsBuffers buffers = new TlsBuffers();

    @BeforeEach
    void writeFiles() {
        certificates = TestCertificates.in(directory);
        var _ = TlsPeer.of(certificates); // sets the limit of keys
    }

    /** A nonblocking socket that takes and gives 0 to {@code most} bytes at a time. */
    private static final class Wire implements ByteChannel {
        private final Random random;
        private final int most;
        private final ByteBuffer bytes = ByteBuffer.allocate(64 * 1024).flip();
        Wire peer;
        boolean isOver;
        /** Whether it takes everything at once. */
        boolean isQuick;

        Wire(Random random, int most) {
            this.random = random;
            this.most = most;
        }

        @Override
        public int read(ByteBuffer to) {
            ByteBuffer from = peer.bytes;
            if (!from.hasRemaining()) {
                return peer.isOver ? -1 : 0;
            }
            return move(from, to);
        }

        @Override
        public int write(ByteBuffer from) {
            if (isQuick) {
                int all = from.remaining();
                from.position(from.limit());
                return all;
            }
            bytes.compact();
            int count = move(from, bytes);
            bytes.flip();
            return count;
        }

        private int move(ByteBuffer from, ByteBuffer to) {
            int count = Math.min(random.nextInt(most + 1),
                    Math.min(from.remaining(), to.remaining()));
            to.put(from.slice(from.position(), count));
            from.position(from.position() + count);
            return count;
        }

        @Override
        public boolean isOpen() { return !isOver; }

        @Override
        public void close() { isOver = true; }
    }

    /** An end with data to send, and what it has received. */
    private final class End {
        final Wire wire;
        final TlsLayer layer;
        final ByteBuffer toSend;
        final ByteArrayOutputStream received = new ByteArrayOutputStream();
        private final ArrayDeque<Runnable> computations = new ArrayDeque<>();
        private final Random random;
        int end;

        End(TlsEngines engines, boolean isClient, Random random, int most, int length)
                throws IOException {
            this.random = random;
            wire = new Wire(random, most);
            layer = new TlsLayer(wire, isClient
                    ? engines.client(new InetSocketAddress("127.0.0.1", 3260))
                    : engines.server(), buffers, computations::add);
            byte[] bytes = new byte[length];
            random.nextBytes(bytes);
            toSend = ByteBuffer.allocateDirect(length).put(bytes).flip();
        }

        void turn() throws IOException {
            Runnable computation = computations.poll();
            if (computation != null) {
                computation.run();
            }
            if (layer.isHandshaking()) {
                IOException failure = layer.handshake(layer::computed);
                if (failure != null) {
                    throw failure;
                }
                return;
            }
            if (toSend.hasRemaining()) {
                long before = toSend.position();
                ByteBuffer[] parts = parts();
                layer.beginTurn();
                long taken = layer.write(parts, 0, parts.length);
                toSend.position((int) (before + taken));
            } else {
                layer.closeOutput();
            }
            boolean _ = layer.flush();
            if (layer.wantsInput() && end == 0) {
                ByteBuffer to = ByteBuffer.allocateDirect(1 + random.nextInt(40_000));
                end = Math.min(0, layer.read(to));
                byte[] bytes = new byte[to.flip().remaining()];
                to.get(bytes);
                received.writeBytes(bytes);
            }
        }

        /** Several pieces of what is left, some of them empty. */
        private ByteBuffer[] parts() {
            List<ByteBuffer> parts = new ArrayList<>();
            int at = toSend.position();
            for (int i = 0; i < 4; i++) {
                int length = Math.min(random.nextInt(30_000) * random.nextInt(2),
                        toSend.limit() - at);
                parts.add(toSend.slice(at, length));
                at += length;
            }
            return parts.toArray(ByteBuffer[]::new);
        }

        boolean isDone() { return end < 0 && !toSend.hasRemaining() && !layer.hasOutput(false); }
    }

    private End[] ends(Random random, int most, int length) throws IOException {
        var client = new End(TlsEngines.ofClient(certificates.trusting()), true, random, most,
                length);
        var server = new End(TlsEngines.ofServer(certificates.own("server")), false, random, most,
                length);
        client.wire.peer = server.wire;
        server.wire.peer = client.wire;
        return new End[]{client, server};
    }

    @Test
    void shouldTransferInBothDirectionsThroughSocketsThatTakeFewBytes() throws Exception {
        long seed = Seed.next();
        var random = new Random(seed);
        for (int round = 0; round < 12; round++) {
            int most = switch (round % 4) {
                case 0 -> 1 + random.nextInt(3);
                case 1 -> 100;
                case 2 -> 5_000;
                default -> 64 * 1024;
            };
            // Long enough for updates of keys, where the socket is quick.
            int length = random.nextInt(most < 1_000 ? 30_000 : 9 << 20);
            End[] ends = ends(random, most, length);
            for (int i = 0; !ends[0].isDone() || !ends[1].isDone(); i++) {
                assertThat(i).as("turns, seed %d, round %d", seed, round).isLessThan(MAX_TURNS);
                ends[random.nextInt(2)].turn();
            }
            for (int i = 0; i < 2; i++) {
                byte[] sent = new byte[length];
                ends[i].toSend.get(0, sent);
                assertThat(ends[1 - i].received.toByteArray())
                        .as("seed %d, round %d", seed, round).isEqualTo(sent);
                ends[i].layer.end(new IOException("over"));
                ends[i].layer.end(new IOException("over"));
            }
            assertThat(buffers.inUse()).isZero();
        }
    }

    @Test
    void shouldSendInTurnsToAPeerThatReadsQuickly() throws Exception {
        int length = 4 << 20;
        End[] ends = ends(new Random(1), 64 * 1024, length);
        while (ends[0].layer.isHandshaking() || ends[1].layer.isHandshaking()) {
            ends[0].turn();
            ends[1].turn();
        }
        ends[0].wire.isQuick = true;
        ByteBuffer data = ByteBuffer.allocateDirect(length);
        int turns = 0;
        while (data.hasRemaining()) {
            ends[0].layer.beginTurn();
            assertThat(ends[0].layer.write(data)).isBetween(1, 64 * 16384);
            assertThat(ends[0].layer.write(data)).as("after the turn").isEqualTo(0);
            assertThat(turns++).isLessThan(100);
        }
        assertThat(turns).isGreaterThanOrEqualTo(4);
    }

    @Test
    void shouldNotTakeACutStreamForItsEnd() throws Exception {
        long seed = Seed.next();
        var random = new Random(seed);
        End[] ends = ends(random, 10_000, 500_000);
        while (ends[1].received.size() < 200_000) {
            ends[random.nextInt(2)].turn();
        }
        ends[0].wire.isOver = true;
        assertThatExceptionOfType(EOFException.class).as("seed %d", seed).isThrownBy(() -> {
            for (int i = 0; i < MAX_TURNS && ends[1].end == 0; i++) {
                ends[1].turn();
            }
        });
        assertThat(ends[1].received.size()).isLessThan(500_000);
    }

    @Test
    void shouldFailOnAChangedRecord() throws Exception {
        long seed = Seed.next();
        var random = new Random(seed);
        End[] ends = ends(random, 30_000, 500_000);
        while (ends[1].received.size() < 100_000) {
            ends[random.nextInt(2)].turn();
        }
        assertThatExceptionOfType(IOException.class).as("seed %d", seed).isThrownBy(() -> {
            for (int i = 0; i < MAX_TURNS && ends[1].end == 0; i++) {
                ends[0].turn();
                ByteBuffer onTheWay = ends[0].wire.bytes;
                if (onTheWay.hasRemaining()) {
                    int at = onTheWay.limit() - 1;
                    onTheWay.put(at, (byte) (onTheWay.get(at) ^ 1));
                }
                ends[1].turn();
            }
        });
    }
}
