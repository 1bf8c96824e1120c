package lunar.rdma.probe;

import java.net.InetSocketAddress;
import java.util.function.LongConsumer;
import lunar.rdma.ProtectionDomain;
import lunar.rdma.RdmaException;

/**
 * Measures round-trip times and bandwidth with a {@link Responder}. Both ends poll; each measurement has a connection
 * of its own. For one thread at a time.
 */
public final class Probe {
    /** Length in bytes of the longest message. */
    public static final int MAX_MESSAGE_BYTES = 16 << 20;

    private final ProtectionDomain domain;
    private final InetSocketAddress peer;

    public Probe(ProtectionDomain domain, InetSocketAddress peer) {
        this.domain = domain;
        this.peer = peer;
    }

    /**
     * Sends messages that the peer echoes, one at a time.
     *
     * @param warmUp number of round trips before the measured ones
     * @param count number of measured round trips
     * @param each receives the time of each round trip in nanoseconds
     * @return total time of the measured round trips in nanoseconds
     */
    public long roundTrips(Variant variant, int messageBytes, int warmUp, int count,
            LongConsumer each) throws RdmaException {
        try (ProbeEnd end = connect(variant, messageBytes)) {
            roundTrips(end, warmUp);
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

    /**
     * Sends messages that the peer echoes, one at a time, without a look at the clock in between.
     *
     * @param warmUp number of round trips before the measured ones
     * @param count number of measured round trips
     * @return total time of the measured round trips in nanoseconds
     */
    public long roundTrips(Variant variant, int messageBytes, int warmUp, int count)
            throws RdmaException {
        try (ProbeEnd end = connect(variant, messageBytes)) {
            roundTrips(end, warmUp);
            long start = System.nanoTime();
            roundTrips(end, count);
            return System.nanoTime() - start;
        }
    }

    private ProbeEnd connect(Variant variant, int messageBytes) throws RdmaException {
        return ProbeEnd.connect(domain, peer, new ProbeTask(true, variant, messageBytes));
    }

    private static void roundTrips(ProbeEnd end, int count) throws RdmaException {
        for (int i = 0; i < count; i++) {
            roundTrip(end);
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
     * @param warmUp number of messages before the measured ones
     * @param count number of measured messages, rounded up to a multiple of {@link ProbeEnd#BATCH}
     * @return time in nanoseconds until the peer has received all of them
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

    /** Returns the number of messages that {@link #stream} measures for a count. */
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
