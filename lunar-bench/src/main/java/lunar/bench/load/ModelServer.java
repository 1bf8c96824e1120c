package lunar.bench.load;

import lunar.bench.harness.Server;
import lunar.bench.harness.Spread;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import lunar.bench.load.ModelLoad.Exchange;
import lunar.tcp.Pacing;

/**
 * Server of the model loop: a thread per connection reads all available data and answers complete requests with one
 * write: from a fixed buffer, or from successive positions in {@value #SPREAD_BYTES} bytes of memory, like a LUN of
 * that size; data written by a client goes to such positions too. Ends with its standard input.
 */
public final class ModelServer implements AutoCloseable {
    private static final int SPREAD_BYTES = 1 << 30;

    private final ServerSocketChannel listener;

    private ModelServer(ServerSocketChannel listener) { this.listener = listener; }

    /** Listens at a free port of the loopback interface, and says so as {@code lunar serve} does. */
    public static void main(String[] args) throws IOException {
        var out = new PrintStream(new FileOutputStream(FileDescriptor.out), true,
                StandardCharsets.UTF_8);
        MemorySegment _ = Ground.Spread.MEMORY; // which takes its time, before a client comes
        var server = start();
        out.println("serving the model as lun 0 of none on " + Server.HOST + ":" + server.port());
        while (System.in.read() >= 0) {
            // input has no meaning
        }
        System.exit(0);
    }

    static ModelServer start() throws IOException {
        var listener = ServerSocketChannel.open()
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        var server = new ModelServer(listener);
        Thread.ofPlatform().daemon().name("model-listener").start(server::accept);
        return server;
    }

    int port() throws IOException {
        return ((InetSocketAddress) listener.getLocalAddress()).getPort();
    }

    private void accept() {
        try {
            while (true) {
                SocketChannel channel = listener.accept();
                Thread.ofPlatform().daemon().name("model").start(() -> serve(channel));
            }
        } catch (IOException _) {
            // closed
        }
    }

    private static void serve(SocketChannel channel) {
        try (channel) {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            Pacing.off(channel);
            Exchange exchange = Exchange.receive(channel);
            boolean writes = exchange.requestBytes() > exchange.answerBytes();
            boolean spread = exchange.spread();
            int receiveBytes = ModelLoad
                    .receiveBytes(exchange.depth() * exchange.requestBytes());
            Ground requests = spread && writes ? Ground.spread() : Ground.one(receiveBytes);
            Ground answers = spread && !writes
                    ? Ground.spread()
                    : Ground.one(exchange.depth() * exchange.answerBytes());
            int partBytes = 0;
            while (true) {
                int bytes = channel.read(requests.next(receiveBytes));
                if (bytes < 0) {
                    return;
                }
                requests.taken(bytes);
                partBytes += bytes;
                int count = partBytes / exchange.requestBytes();
                partBytes %= exchange.requestBytes();
                ModelLoad.writeAll(channel, answers.next(count * exchange.answerBytes()));
                answers.taken(count * exchange.answerBytes());
            }
        } catch (IOException _) {
            // The client leaves as it likes, with answers on their way.
        }
    }

    /** Where data lie: always at the front, or one behind the other. */
    private static final class Ground {
        /** Made on first use. */
        private static final class Spread {
            static final MemorySegment MEMORY = Arena.global().allocate(SPREAD_BYTES);

            static {
                MEMORY.fill((byte) 1); // or all would be one page of zeroes
            }
        }

        private final ByteBuffer memory;
        private final boolean moves;
        private int at;

        private Ground(ByteBuffer memory, boolean moves) {
            this.memory = memory;
            this.moves = moves;
        }

        static Ground one(int bytes) { return new Ground(ByteBuffer.allocateDirect(bytes), false); }

        static Ground spread() { return new Ground(Spread.MEMORY.asByteBuffer(), true); }

        ByteBuffer next(int bytes) {
            if (bytes > memory.capacity() - at) {
                at = 0;
            }
            return memory.clear().position(at).limit(at + bytes);
        }

        void taken(int bytes) {
            if (moves) {
                at += bytes;
            }
        }
    }

    @Override
    public void close() throws IOException { listener.close(); }
}
