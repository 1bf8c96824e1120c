package lunar.bench;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import lunar.bench.ModelLoad.Exchange;

/**
 * The server of the model loop: a thread for each connection reads all that is there and answers whole requests
 * together, from a buffer that is always the same, with one write. Ends with its standard input.
 */
public final class ModelServer implements AutoCloseable {
    private final ServerSocketChannel listener;

    private ModelServer(ServerSocketChannel listener) { this.listener = listener; }

    /** Listens at a free port of the loopback interface, and says so as {@code lunar serve} does. */
    public static void main(String[] args) throws IOException {
        var out = new PrintStream(new FileOutputStream(FileDescriptor.out), true,
                StandardCharsets.UTF_8);
        var server = start();
        out.println("serving the model as lun 0 of none on " + Server.HOST + ":" + server.port());
        while (System.in.read() >= 0) {
            // nobody has anything to say
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
            Exchange exchange = Exchange.receive(channel);
            ByteBuffer requests = ModelLoad
                    .receiveBuffer(exchange.depth() * exchange.requestBytes());
            ByteBuffer answers = ByteBuffer
                    .allocateDirect(exchange.depth() * exchange.answerBytes());
            int partBytes = 0;
            for (int bytes = channel.read(requests.clear()); bytes >= 0; bytes = channel
                    .read(requests.clear())) {
                partBytes += bytes;
                int count = partBytes / exchange.requestBytes();
                partBytes %= exchange.requestBytes();
                ModelLoad.writeAll(channel,
                        answers.clear().limit(count * exchange.answerBytes()));
            }
        } catch (IOException _) {
            // The client leaves as it likes, with answers on their way.
        }
    }

    @Override
    public void close() throws IOException { listener.close(); }
}
