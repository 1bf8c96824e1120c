package lunar.it.faults;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Proxy between an initiator and a target on the loopback interface that can freeze, delay and cut. While frozen it
 * forwards nothing and reports nothing; what was sent meanwhile arrives when it thaws, also where the sender has closed
 * or reset its connection since then, like bytes in a switch's queue.
 */
final class FaultProxy implements AutoCloseable {
    private static final int PIECE_BYTES = 64 << 10;
    private static final int MAX_HELD = 64 << 20;
    private static final int BACKLOG = 50;
    private static final int RESET = -1;

    private final ServerSocket listening;
    private final int to;
    private final Set<Link> links = ConcurrentHashMap.newKeySet();
    private volatile boolean frozen;
    private volatile boolean closed;
    private volatile long delayNanos;

    /** @param to port of the target, which need not listen yet */
    FaultProxy(int to) throws IOException {
        this.to = to;
        listening = new ServerSocket(0, BACKLOG, InetAddress.getByName("127.0.0.1"));
        Thread.ofPlatform().daemon().name("proxy-" + port()).start(this::accept);
    }

    int port() { return listening.getLocalPort(); }

    /** Holds all that comes, in both directions, and the connections that are made from now on. */
    void freeze() {
        frozen = true;
    }

    /** Holds all that comes on the connections there are, in both directions; those that are made from now on pass. */
    void hold() {
        links.forEach(link -> link.held = true);
        frozen = false;
    }

    /** Lets all that was held pass. */
    void thaw() {
        frozen = false;
        links.forEach(link -> {
            link.held = false;
            link.wake();
        });
    }

    /** Delays each piece that passes. */
    void delay(long ms) {
        delayNanos = TimeUnit.MILLISECONDS.toNanos(ms);
    }

    /** Resets every connection; what was held is gone. */
    void cut() { links.forEach(Link::cut); }

    @Override
    public void close() throws IOException {
        closed = true;
        listening.close();
        cut();
        thaw();
    }

    private void accept() {
        while (!closed) {
            try {
                Socket from = listening.accept();
                Thread.ofVirtual().start(() -> connect(from));
            } catch (IOException _) {
                // closed, or the next one
            }
        }
    }

    private void connect(Socket from) {
        try {
            while (frozen && !closed) {
                LockSupport.parkNanos(1_000_000);
            }
            var onward = new Socket(InetAddress.getByName("127.0.0.1"), to);
            from.setTcpNoDelay(true);
            onward.setTcpNoDelay(true);
            var link = new Link(from, onward);
            links.add(link);
            link.start();
            if (closed) {
                link.cut();
            }
        } catch (IOException _) {
            reset(from);
        }
    }

    private static void reset(Socket socket) {
        try {
            socket.setSoLinger(true, 0);
            socket.close();
        } catch (IOException _) {
            // gone already
        }
    }

    /** Both directions of a connection. */
    private final class Link {
        private final Direction forth;
        private final Direction back;
        private volatile boolean held;

        Link(Socket initiator, Socket target) {
            forth = new Direction(this, initiator, target);
            back = new Direction(this, target, initiator);
        }

        void start() {
            forth.start();
            back.start();
        }

        void wake() {
            forth.wake();
            back.wake();
        }

        void cut() {
            forth.cut();
            back.cut();
            links.remove(this);
        }

        void ended() {
            if (forth.done && back.done) {
                links.remove(this);
                reset(forth.from);
                reset(forth.to);
            }
        }
    }

    /** Forwards bytes from one socket to the other, through a queue that is held while the network is frozen. */
    private final class Direction {
        private final Link link;
        private final Socket from;
        private final Socket to;
        private final ArrayDeque<byte[]> held = new ArrayDeque<>(); // guarded by this, as the next two
        private long heldBytes;
        private int end; // 0: none; 1: of the stream; RESET
        private volatile boolean done;

        Direction(Link link, Socket from, Socket to) {
            this.link = link;
            this.from = from;
            this.to = to;
        }

        void start() {
            Thread.ofVirtual().start(this::receive);
            Thread.ofVirtual().start(this::send);
        }

        synchronized void wake() { notifyAll(); }

        synchronized void cut() {
            held.clear();
            end = RESET;
            notifyAll();
            reset(from);
            reset(to);
        }

        private void receive() {
            int ended = 1;
            byte[] piece = new byte[PIECE_BYTES];
            try {
                InputStream in = from.getInputStream();
                for (int got = in.read(piece); got >= 0; got = in.read(piece)) {
                    add(Arrays.copyOf(piece, got));
                }
            } catch (IOException _) {
                ended = RESET;
            }
            synchronized (this) {
                end = end == 0 ? ended : end;
                notifyAll();
            }
        }

        private synchronized void add(byte[] piece) throws IOException {
            try {
                while (heldBytes > MAX_HELD && end == 0) {
                    wait();
                }
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            held.add(piece);
            heldBytes += piece.length;
            notifyAll();
        }

        /** The next piece that may pass; null at the end. */
        private synchronized byte[] next() throws InterruptedException {
            while (!closed && (frozen || link.held || (held.isEmpty() && end == 0))) {
                wait();
            }
            byte[] piece = held.poll();
            heldBytes -= piece == null ? 0 : piece.length;
            notifyAll();
            return piece;
        }

        private void send() {
            try {
                OutputStream out = to.getOutputStream();
                for (byte[] piece = next(); piece != null; piece = next()) {
                    LockSupport.parkNanos(delayNanos);
                    out.write(piece);
                }
                if (end == 1) {
                    to.shutdownOutput();
                } else {
                    reset(to);
                }
            } catch (IOException _) {
                reset(from); // the other end has gone
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
            } finally {
                done = true;
                link.ended();
            }
        }
    }
}
