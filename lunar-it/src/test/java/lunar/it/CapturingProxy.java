package lunar.it;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Proxy on the loopback interface that writes what passes to a capture file, without privileges. */
final class CapturingProxy implements AutoCloseable {
    /** Port of the target in the capture, by which decoders know the protocol. */
    static final int CAPTURED_PORT = 3260;

    private static final int PIECE_BYTES = 64 << 10;

    private final ServerSocket listening;
    private final int to;
    private final PcapFile capture;
    private final List<Thread> pumps = new ArrayList<>(); // guarded by itself

    /** @param to port of the target */
    CapturingProxy(int to, Path file) throws IOException {
        this.to = to;
        capture = new PcapFile(file);
        listening = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
        Thread.ofVirtual().start(this::accept);
    }

    int port() { return listening.getLocalPort(); }

    private void accept() {
        while (!listening.isClosed()) {
            try {
                Socket initiator = listening.accept();
                var target = new Socket("127.0.0.1", to);
                var connection = capture.connection(initiator.getPort(), CAPTURED_PORT);
                start(() -> pump(initiator, target, connection, true));
                start(() -> pump(target, initiator, connection, false));
            } catch (IOException _) {
                // the next one, or the end
            }
        }
    }

    private void start(Runnable pump) {
        synchronized (pumps) {
            pumps.add(Thread.ofVirtual().start(pump));
        }
    }

    private static void pump(Socket from, Socket to, PcapFile.Connection connection,
            boolean forth) {
        byte[] piece = new byte[PIECE_BYTES];
        try (from; to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int got = in.read(piece); got >= 0; got = in.read(piece)) {
                connection.data(forth, piece, got); // before the answer to it can pass
                out.write(piece, 0, got);
            }
        } catch (IOException _) {
            // the connection has ended
        }
    }

    /** Ends the capture; the connections must have ended. */
    @Override
    public void close() throws IOException {
        listening.close();
        List<Thread> all;
        synchronized (pumps) {
            all = List.copyOf(pumps);
        }
        try {
            for (Thread pump : all) {
                pump.join(60_000);
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        capture.close();
    }
}
