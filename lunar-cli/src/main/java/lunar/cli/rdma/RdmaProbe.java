package lunar.cli.rdma;

import java.net.InetSocketAddress;
import java.util.function.LongConsumer;
import lunar.rdma.ProtectionDomain;
import lunar.rdma.RdmaException;

/**
 * Measures round trips and bandwidth with a {@link RdmaResponder}. Both ends poll; a connection is made for each
 * measurement. For one thread.
 */
public final class RdmaProbe {
    private final ProtectionDomain domain;
    private final InetSocketAddress peer;

    public RdmaProbe(ProtectionDomain domain, InetSocketAddress peer) {
        this.domain = domain;
        this.peer = peer;
    }

    /**
     * Sends messages that come back, one at a time.
     *
     * @param warmUp messages that are not measured, before
     * @param each gets the nanoseconds of each round trip
     * @return nanoseconds of all round trips together
     */
    public long roundTrips(Variant variant, int messageBytes, int warmUp, int count,
            LongConsumer each) throws RdmaException {
        try (RdmaEnd end = RdmaEnd.connect(domain, peer,
                new RdmaTask(true, variant, messageBytes))) {
            for (int i = 0; i < warmUp; i++) {
                roundTrip(end);
            }
            long start = System.nanoTime();
            long from = start;
            for (int i = 0; i < count; i++) {
                roundTrip(end);
                long to = System.nanoTime();
                each.accept(to - from);
                from = to;
            }
            return from - start;
        }
    }

    private static void roundTrip(RdmaEnd end) throws RdmaException {
        long before = end.received();
        end.send(end.task().messageBytes());
        while (end.received() == before) {
            end.poll();
        }
    }

    /**
     * Sends messages in one direction, up to {@link RdmaEnd#DEPTH} ahead of the peer.
     *
     * @param count rounded up to a multiple of {@link RdmaEnd#BATCH}
     * @return nanoseconds until the peer has received all
     */
    public long stream(Variant variant, int messageBytes, int warmUp, int count)
            throws RdmaException {
        try (RdmaEnd end = RdmaEnd.connect(domain, peer,
                new RdmaTask(false, variant, messageBytes))) {
            stream(end, batches(warmUp));
            long start = System.nanoTime();
            stream(end, batches(count));
            return System.nanoTime() - start;
        }
    }

    /** Number of messages that {@link #stream} sends. */
    public static int messages(int count) {
        return batches(count) * RdmaEnd.BATCH;
    }

    private static int batches(int count) { return Math.ceilDiv(count, RdmaEnd.BATCH); }

    private static void stream(RdmaEnd end, int batches) throws RdmaException {
        long before = end.received();
        for (int sent = 0; sent < batches; sent++) {
            while (sent - (end.received() - before) >= RdmaEnd.DEPTH / RdmaEnd.BATCH) {
                end.poll();
            }
            for (int i = 0; i < RdmaEnd.BATCH; i++) {
                end.send(end.task().messageBytes());
            }
        }
        while (end.received() - before < batches) {
            end.poll();
        }
    }
}
