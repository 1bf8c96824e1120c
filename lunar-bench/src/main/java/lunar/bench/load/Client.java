package lunar.bench.load;

import lunar.bench.harness.BenchException;
import lunar.bench.harness.CpuSampler;

import java.util.Optional;

/** A load generator: an initiator in a separate process. */
public interface Client extends AutoCloseable {
    /**
     * Result of a client's work.
     *
     * @param iops operations per second
     * @param p50Us median latency in microseconds, 0 where the client does not tell; so the other two
     * @param slowestOfMean operations of the slowest session, as a part of what a session did on average
     */
    record Outcome(double iops, double p50Us, double p99Us, double p999Us, double slowestOfMean) {
        static Outcome of(double iops) { return new Outcome(iops, 0, 0, 0, 1); }
    }

    /** The outcome, and the cores that the server, the client and all else kept busy meanwhile. */
    record Counted(Outcome outcome, CpuSampler.Cores cores) {}

    /**
     * Does what is told.
     *
     * @param core where it is to run, if that matters
     */
    Counted run(LoadOrder order, long serverPid, Optional<String> core)
            throws BenchException, InterruptedException;

    /** Ends the client's process, where it has one that stays. */
    @Override
    void close();
}
