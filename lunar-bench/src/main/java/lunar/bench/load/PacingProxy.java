package lunar.bench.load;

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
import lunar.bench.harness.Server;

/**
 * A relay in front of a target that passes its bytes on in small pieces, with a pause after each, as a slow link or a
 * paced sender delivers them. What the initiator sends is passed on as it comes. Ends with its standard input.
 */
public final class PacingProxy {
    private static final int BUFFER_BYTES = 256 << 10;

    private final int targetPort;
    private final int pieceBytes;
    private final long pauseNs;

    private PacingProxy(int targetPort, int pieceBytes, long pauseNs) {
        this.targetPort = targetPort;
        this.pieceBytes = pieceBytes;
        this.pauseNs = pauseNs;
    }

    /**
     * Listens at a free port of the loopback interface, and says so as {@code lunar serve} does.
     *
     * @param args port of the target, bytes of a piece, nanoseconds from the start of a piece to that of the next
     */
    public static void main(String[] args) throws IOException {
        var out = new PrintStream(new FileOutputStream(FileDescriptor.out), true,
                StandardCharsets.UTF_8);
        var proxy = new PacingProxy(Integer.parseInt(args[0]), Integer.parseInt(args[1]),
                Long.parseLong(args[2]));
        var listener = ServerSocketChannel.open()
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        Thread.ofPlatform().daemon().name("listener").start(() -> proxy.accept(listener));
        out.println("serving a relay as lun 0 of another on " + Server.HOST + ":"
                + listener.socket().getLocalPort());
        while (System.in.read() >= 0) {
            // input has no meaning
        }
        System.exit(0);
    }

    private void accept(ServerSocketChannel listener) {
        try {
            while (true) {
                SocketChannel initiator = listener.accept();
                SocketChannel target = SocketChannel.open(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), targetPort));
                initiator.setOption(StandardSocketOptions.TCP_NODELAY, true);
                target.setOption(StandardSocketOptions.TCP_NODELAY, true);
                Thread.ofPlatform().daemon()
                        .start(() -> relay(initiator, target, BUFFER_BYTES, 0));
                Thread.ofPlatform().daemon()
                        .start(() -> relay(target, initiator, pieceBytes, pauseNs));
            }
        } catch (IOException e) {
            System.exit(1);
        }
    }

    private static void relay(SocketChannel from, SocketChannel to, int bytes, long pauseNs) {
        ByteBuffer piece = ByteBuffer.allocateDirect(bytes);
        try (from; to) {
            long next = System.nanoTime();
            while (from.read(piece.clear()) >= 0) {
                while (System.nanoTime() - next < 0) {
                    Thread.onSpinWait();
                }
                next = System.nanoTime() + pauseNs;
                piece.flip();
                while (piece.hasRemaining()) {
                    to.write(piece);
                }
            }
        } catch (IOException _) {
            // one of the ends has closed its connection
        }
    }
}
