package lunar.rdma.probe;

import java.net.InetSocketAddress;
import java.util.function.LongConsumer;
import lunar.rdma.ProtectionDomain;
import lunar.rdma.RdmaException;

/**
 * Measures round trips and bandwidth with a {@link Responder}. Both ends poll; a connection is made for each
 * measurement. For one thread.
 */
public final class Probe {
    /** Longest message. */
    public static final int MAX_MESSAGE_BYTES = 16 << 20;

    private final ProtectionDomain domain;
    private final InetSocketAddress peer;

    public Probe(ProtectionDomain domain, InetSocketAddress peer) {
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
        try (ProbeEnd end = ProbeEnd.connect(domain, peer,
                new ProbeTask(true, variant, messageBytes))) {
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

    private static void roundTrip(ProbeEnd end) throws RdmaException {
        long before = end.received();
        end.send(end.task().messageBytes());
        while (end.received() == before) {
            end.poll();
        }
    }

    /**
     * Sends messages in one direction, up to {@link ProbeEnd#DEPTH} ahead of the peer.
     *
     * @param count rounded up to a multiple of {@link ProbeEnd#BATCH}
     * @return nanoseconds until the peer has received all
     */
    public long stream(Variant variant, int messageBytes, int warmUp, int count)
            throws RdmaException {
        try (ProbeEnd end = ProbeEnd.connect(domain, peer,
                new ProbeTask(false, variant, messageBytes))) {
            stream(end, batches(warmUp));
            long start = System.nanoTime();
            stream(end, batches(count));
            return System.nanoTime() - start;
        }
    }

    /** Number of messages that {@link #stream} sends. */
    public static int messages(int count) {
        return batches(count) * ProbeEnd.BATCH;
    }

    private static int batches(int count) { return Math.ceilDiv(count, ProbeEnd.BATCH); }

    private static void stream(ProbeEnd end, int batches) throws RdmaException {
        long before = end.received();
        for (int sent = 0; sent < batches; sent++) {
            while (sent - (end.received() - before) >= ProbeEnd.DEPTH / ProbeEnd.BATCH) {
                end.poll();
            }
            for (int i = 0; i < ProbeEnd.BATCH; i++) {
                end.send(end.task().messageBytes());
            }
        }
        while (end.received() - before < batches) {
            end.poll();
        }
    }
}
