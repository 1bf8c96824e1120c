package lunar.bench.load;

import lunar.bench.harness.BenchException;
import lunar.bench.harness.Latencies;
import lunar.bench.harness.Work;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import lunar.bench.load.LoadOrder.Window;
import lunar.bench.harness.Work.Operation;
import lunar.initiator.IscsiUri;
import lunar.iscsi.text.TargetAddress;
import lunar.scsi.Lun;
import lunar.tcp.Pacing;

/**
 * Client of the model loop, which only transfers the bytes of an exchange. A read is a request of
 * {@value #HEADER_BYTES} bytes and a response of the same length plus the data; a write is the reverse. All available
 * responses are read at once and followed by as many requests in one write. The same two buffers are used throughout
 * and stay cached: no initiator can do less. The connection is not paced, see {@link Pacing}.
 */
public final class ModelLoad implements Load {
    static final int HEADER_BYTES = 48;
    /** LUN with its data in much memory; any other has them in one hot buffer. */
    public static final int SPREAD_LUN = 1;
    /** Least and most that is received at once. */
    static final int MIN_RECEIVE_BYTES = 64 << 10;
    static final int MAX_RECEIVE_BYTES = 256 << 10;

    @Override
    public LoadResult run(LoadOrder order) throws BenchException, IOException {
        Work work = order.work();
        if (order.sessions() != 1 || work.operation() == Operation.MIXED
                || work.operation() == Operation.NO_DATA) {
            throw new BenchException("the model loop supports one connection and one direction");
        }
        IscsiUri uri = IscsiUri.parse(order.uri());
        TargetAddress portal = uri.sessionOptions().portal();
        try (var channel = SocketChannel
                .open(new InetSocketAddress(portal.host(), portal.port()))) {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            Pacing.off(channel);
            var exchange = Exchange.of(work,
                    uri.lun().equals(Optional.of(Lun.of(SPREAD_LUN))));
            exchange.tell(channel);
            return new Client(channel, exchange, order.window()).run();
        }
    }

    /**
     * Traffic between client and server.
     *
     * @param requestBytes of a message of the client
     * @param answerBytes of a message of the server
     * @param depth requests that are not answered
     * @param spread whether the server has its data in much memory, as a LUN has, or in one hot buffer
     */
    record Exchange(int requestBytes, int answerBytes, int depth, boolean spread) {
        static final int MAX_MESSAGE_BYTES = 16 << 20;
        private static final int TOLD_BYTES = 4 * Integer.BYTES;

        static Exchange of(Work work, boolean spread) {
            int whole = HEADER_BYTES + work.requestBytes();
            return work.writes()
                    ? new Exchange(whole, HEADER_BYTES, work.depth(), spread)
                    : new Exchange(HEADER_BYTES, whole, work.depth(), spread);
        }

        /** First of all, the client says what it will do. */
        void tell(SocketChannel channel) throws IOException {
            writeAll(channel, ByteBuffer.allocate(TOLD_BYTES).putInt(requestBytes)
                    .putInt(answerBytes).putInt(depth).putInt(spread ? 1 : 0).flip());
        }

        static Exchange receive(SocketChannel channel) throws IOException {
            ByteBuffer told = ByteBuffer.allocate(TOLD_BYTES);
            while (told.hasRemaining()) {
                if (channel.read(told) < 0) {
                    throw new IOException("the client has closed the connection");
                }
            }
            told.flip();
            var exchange = new Exchange(told.getInt(), told.getInt(), told.getInt(),
                    told.getInt() != 0);
            if (!isLength(exchange.requestBytes) || !isLength(exchange.answerBytes)
                    || exchange.depth < 1 || exchange.depth > 4096) {
                throw new IOException("invalid exchange: " + exchange);
            }
            return exchange;
        }

        private static boolean isLength(int bytes) {
            return bytes >= HEADER_BYTES && bytes <= MAX_MESSAGE_BYTES;
        }
    }

    /** Executes one order. */
    private static final class Client {
        private final SocketChannel channel;
        private final Exchange exchange;
        private final Window window;
        private final ByteBuffer requests;
        private final ByteBuffer answers;
        private final Latencies latencies = new Latencies();
        /** When the requests in flight began, a ring: they are answered in order. */
        private final long[] startNs;
        private int oldest;

        Client(SocketChannel channel, Exchange exchange, Window window) {
            this.channel = channel;
            this.exchange = exchange;
            this.window = window;
            requests = ByteBuffer.allocateDirect(exchange.depth * exchange.requestBytes);
            answers = ByteBuffer
                    .allocateDirect(receiveBytes(exchange.depth * exchange.answerBytes));
            startNs = new long[exchange.depth];
        }

        LoadResult run() throws IOException {
            Arrays.fill(startNs, System.nanoTime());
            send(exchange.depth);
            int partBytes = 0;
            while (true) {
                int bytes = channel.read(answers.clear());
                if (bytes < 0) {
                    throw new IOException("the model's server has closed the connection");
                }
                partBytes += bytes;
                int count = partBytes / exchange.answerBytes;
                partBytes %= exchange.answerBytes;
                long now = System.nanoTime();
                if (window.isOver(now)) {
                    return LoadResult.of(window, List.of(latencies));
                }
                boolean counts = window.holds(now);
                for (int i = 0; i < count; i++) {
                    if (counts) {
                        latencies.add(now - startNs[oldest]);
                    }
                    startNs[oldest] = now;
                    oldest = (oldest + 1) % startNs.length;
                }
                send(count);
            }
        }

        private void send(int count) throws IOException {
            writeAll(channel, requests.clear().limit(count * exchange.requestBytes));
        }
    }

    /** Returns how much to receive at once, where so many bytes are on their way. */
    static int receiveBytes(int bytes) {
        return Math.clamp(bytes, MIN_RECEIVE_BYTES, MAX_RECEIVE_BYTES);
    }

    static void writeAll(SocketChannel channel, ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining()) {
            channel.write(buffer);
        }
    }
}
