package lunar.it;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;
import lunar.iscsi.pdu.LoginRequest;
import lunar.iscsi.pdu.LoginResponse;

/** Proxy between an initiator and a target on the loopback interface that cuts their connections as a network does. */
final class CutProxy implements AutoCloseable {
    private static final int PIECE_BYTES = 64 << 10;
    private static final int HEADER_BYTES = 48;
    private static final long FAST = Long.MAX_VALUE;

    private final ServerSocket listening;
    private final int to;
    private final long bytesPerSecond;
    private final Set<Link> links = ConcurrentHashMap.newKeySet();
    private final AtomicLong passed = new AtomicLong();
    private volatile boolean broken;

    CutProxy(int to) throws IOException { this(to, FAST); }

    /**
     * Lets a connection pass so many bytes a second in each direction, and no more.
     *
     * @param to port of the target
     */
    CutProxy(int to, long bytesPerSecond) throws IOException {
        this.to = to;
        this.bytesPerSecond = bytesPerSecond;
        listening = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
        Thread.ofVirtual().start(this::accept);
    }

    int port() { return listening.getLocalPort(); }

    /** Bytes that have passed, both directions counted. */
    long passed() { return passed.get(); }

    /** Connections that are open. */
    int count() { return links.size(); }

    /** Connections that are open and not about to be cut. */
    long sound() {
        return links.stream().filter(link -> !link.doomed).count();
    }

    private void accept() {
        while (!listening.isClosed()) {
            try {
                Socket from = listening.accept();
                if (broken) {
                    end(from, true);
                    continue;
                }
                var link = new Link(from, new Socket("127.0.0.1", to));
                links.add(link);
                if (broken) { // since it was looked at
                    cut();
                }
                link.start();
            } catch (IOException _) {
                // the next one, or the end
            }
        }
    }

    private static void end(Socket socket, boolean reset) {
        try {
            if (reset) {
                socket.setSoLinger(true, 0);
            }
            socket.close();
        } catch (IOException _) {
            // gone already
        }
    }

    /** Resets every connection; new ones go through. */
    void cut() {
        links.forEach(link -> link.end(true));
    }

    /**
     * Ends every connection within what passes next, in one direction or the other: in a header or among data. Some are
     * reset, others just closed. Returns how many.
     */
    int cutInside(RandomGenerator random) {
        int cuts = 0;
        for (Link link : links) {
            if (link.cutInside(random)) {
                cuts++;
            }
        }
        return cuts;
    }

    /** Ends one connection in the same way, if there is one. */
    void cutOneInside(RandomGenerator random) {
        one(random).ifPresent(link -> link.cutInside(random));
    }

    /** Changes a byte that passes next by one connection, in one direction or the other, once it is logged in. */
    void damageOne(RandomGenerator random) {
        one(random).ifPresent(link -> link.damage(random));
    }

    private Optional<Link> one(RandomGenerator random) {
        List<Link> all = List.copyOf(links);
        return all.isEmpty() ? Optional.empty() : Optional.of(all.get(random.nextInt(all.size())));
    }

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

    /** Two sockets, and what passes between them. */
    private final class Link {
        private final Socket initiator;
        private final Socket target;
        private volatile boolean doomed;
        private volatile boolean reset = true;
        /** Bytes that may still pass once it is doomed. */
        private volatile long leftToTarget;
        private volatile long leftToInitiator;
        /** Bits to flip in the next byte at a random place; 0 for none. */
        private final AtomicInteger harmToTarget = new AtomicInteger();
        private final AtomicInteger harmToInitiator = new AtomicInteger();

        Link(Socket initiator, Socket target) {
            this.initiator = initiator;
            this.target = target;
        }

        void start() {
            Thread.ofVirtual().start(() -> pump(initiator, target, true));
            Thread.ofVirtual().start(() -> pump(target, initiator, false));
        }

        boolean cutInside(RandomGenerator random) {
            if (doomed) {
                return false;
            }
            reset = random.nextBoolean();
            leftToTarget = some(random);
            leftToInitiator = some(random);
            doomed = true;
            return true;
        }

        void damage(RandomGenerator random) {
            (random.nextBoolean() ? harmToTarget : harmToInitiator).set(1 + random.nextInt(255));
        }

        private static long some(RandomGenerator random) {
            return random.nextInt(random.nextBoolean() ? PIECE_BYTES : 2 * HEADER_BYTES);
        }

        private void pump(Socket from, Socket target, boolean forth) {
            byte[] piece = new byte[PIECE_BYTES];
            try {
                InputStream in = from.getInputStream();
                OutputStream out = target.getOutputStream();
                long left = FAST;
                for (int got = in.read(piece); got >= 0; got = in.read(piece)) {
                    // Digests do not protect a login (RFC 7143 section 13.1).
                    int harm = isLogin(piece[0])
                            ? 0
                            : (forth ? harmToTarget : harmToInitiator).getAndSet(0);
                    piece[ThreadLocalRandom.current().nextInt(got)] ^= (byte) harm;
                    if (doomed && left == FAST) {
                        left = forth ? leftToTarget : leftToInitiator;
                    }
                    if (left < got) {
                        out.write(piece, 0, (int) left);
                        return;
                    }
                    out.write(piece, 0, got);
                    left -= left == FAST ? 0 : got;
                    passed.addAndGet(got);
                    pace(got);
                }
            } catch (IOException _) {
                // cut
            } finally {
                end(reset);
            }
        }

        /** By the first byte that comes, which is that of a PDU as long as it is one of a login. */
        private static boolean isLogin(byte first) {
            return (first & 0x3f) == LoginRequest.OPCODE || (first & 0x3f) == LoginResponse.OPCODE;
        }

        private void pace(int bytes) {
            if (bytesPerSecond != FAST) {
                LockSupport.parkNanos(bytes * TimeUnit.SECONDS.toNanos(1) / bytesPerSecond);
            }
        }

        void end(boolean reset) {
            links.remove(this);
            CutProxy.end(initiator, reset);
            CutProxy.end(target, reset);
        }
    }
}
