package lunar.it;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Stands between an initiator and a target on the loopback interface, and cuts their connections as a network does. */
final class CutProxy implements AutoCloseable {
    private final ServerSocket listening;
    private final int to;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private volatile boolean broken;

    CutProxy(int to) throws IOException {
        this.to = to;
        listening = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
        Thread.ofVirtual().start(this::accept);
    }

    int port() { return listening.getLocalPort(); }

    /** Connections that are open, both sides of them counted. */
    int count() {
        return sockets.size() / 2;
    }

    private void accept() {
        while (!listening.isClosed()) {
            try {
                Socket from = listening.accept();
                if (broken) {
                    reset(from);
                    continue;
                }
                var target = new Socket("127.0.0.1", to);
                sockets.add(from);
                sockets.add(target);
                if (broken) { // since it was looked at
                    cut();
                }
                Thread.ofVirtual().start(() -> pump(from, target));
                Thread.ofVirtual().start(() -> pump(target, from));
            } catch (IOException _) {
                // the next one, or the end
            }
        }
    }

    private void pump(Socket from, Socket target) {
        try {
            InputStream in = from.getInputStream();
            OutputStream out = target.getOutputStream();
            in.transferTo(out);
        } catch (IOException _) {
            // cut
        } finally {
            reset(from);
            reset(target);
        }
    }

    private void reset(Socket socket) {
        sockets.remove(socket);
        try {
            socket.setSoLinger(true, 0);
            socket.close();
        } catch (IOException _) {
            // gone already
        }
    }

    /** Resets every connection; new ones go through. */
    void cut() { sockets.forEach(this::reset); }

    /** Resets every connection, and each new one until {@link #mend}. */
    void breakDown() {
        broken = true;
        cut();
    }

    void mend() { broken = false; }

    @Override
    public void close() throws IOException {
        listening.close();
        cut();
    }
}
