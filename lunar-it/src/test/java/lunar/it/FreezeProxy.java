package lunar.it;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Proxy between an initiator and a target that freezes on demand: while frozen it accepts connections and reads what
 * arrives, but forwards nothing, not even the end of a connection. {@link #thaw} then delivers all of it in order, as a
 * stalled middlebox does, also for connections that the initiator has long closed.
 */
final class FreezeProxy implements AutoCloseable {
    private static final int PIECE_BYTES = 64 << 10;
    private static final byte[] END = {};

    private final ServerSocket listening;
    private final int to;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final AtomicLong heldToTarget = new AtomicLong();
    private final Set<Gate> shut = ConcurrentHashMap.newKeySet();
    /** Of the connections that come now. */
    private volatile Gate gate = new Gate();

    /** Gate that the bytes of some connections pass. */
    private static final class Gate {
        private boolean open = true;

        synchronized void set(boolean to) {
            open = to;
            notifyAll();
        }

        synchronized void await() throws InterruptedException {
            while (!open) {
                wait();
            }
        }
    }

    /** @param to port of the target */
    FreezeProxy(int to) throws IOException {
        this.to = to;
        listening = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
        Thread.ofVirtual().start(this::accept);
    }

    int port() { return listening.getLocalPort(); }

    /** Bytes read from initiators and not yet written to the target. */
    long heldToTarget() {
        return heldToTarget.get();
    }

    /** Passes nothing on any longer. */
    void freeze() {
        shut.add(gate);
        gate.set(false);
    }

    /** Passes nothing on by the connections there are; new ones go through. */
    void freezeOpen() {
        freeze();
        gate = new Gate();
    }

    /** Delivers what was held. */
    void thaw() {
        shut.forEach(each -> each.set(true));
        shut.clear();
    }

    private void accept() {
        while (!listening.isClosed()) {
            try {
                Socket from = listening.accept();
                var target = new Socket("127.0.0.1", to);
                sockets.add(from);
                sockets.add(target);
                start(from, target, heldToTarget);
                start(target, from, new AtomicLong());
            } catch (IOException _) {
                // the next one, or the end
            }
        }
    }

    private void start(Socket from, Socket target, AtomicLong held) {
        Gate passed = gate;
        var pieces = new LinkedBlockingQueue<byte[]>();
        Thread.ofVirtual().start(() -> read(from, pieces, held));
        Thread.ofVirtual().start(() -> write(target, pieces, held, passed));
    }

    /** Reads on while frozen: what the initiator's system has sent is out of its hands. */
    private static void read(Socket from, BlockingQueue<byte[]> pieces, AtomicLong held) {
        byte[] piece = new byte[PIECE_BYTES];
        try {
            InputStream in = from.getInputStream();
            for (int got = in.read(piece); got >= 0; got = in.read(piece)) {
                held.addAndGet(got);
                pieces.add(Arrays.copyOf(piece, got));
            }
        } catch (IOException _) {
            // reset
        } finally {
            pieces.add(END);
        }
    }

    private static void write(Socket target, BlockingQueue<byte[]> pieces, AtomicLong held,
            Gate passed) {
        try {
            OutputStream out = target.getOutputStream();
            for (byte[] piece = pieces.take(); piece != END; piece = pieces.take()) {
                passed.await();
                try {
                    out.write(piece);
                } finally {
                    held.addAndGet(-piece.length);
                }
            }
            passed.await();
            target.shutdownOutput();
        } catch (IOException _) {
            drop(pieces, held);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    /** The other end is gone: nothing more of this connection can be delivered. */
    private static void drop(BlockingQueue<byte[]> pieces, AtomicLong held) {
        try {
            for (byte[] piece = pieces.take(); piece != END; piece = pieces.take()) {
                held.addAndGet(-piece.length);
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() throws IOException {
        listening.close();
        thaw();
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
