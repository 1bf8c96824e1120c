package lunar.bench.load;

import lunar.bench.harness.Pair;
import lunar.bench.harness.Work;

/**
 * Result of a pair for a workload.
 *
 * @param round from 1
 * @param work name of the work
 * @param pair label of the pair
 * @param iops operations per second
 * @param megabytes of data per second, in millions of bytes
 * @param p50Us median latency in microseconds, 0 if the client does not report it, like the other two
 * @param slowestOfMean operations of the slowest session, relative to the average
 * @param serverUs microseconds of processor time of the server for an operation
 * @param clientUs microseconds of processor time of the client per operation
 * @param otherCores cores used by other processes
 * @param load the load average of one minute at its end
 */
public record Measurement(int round, String work, String pair, double iops, double megabytes,
        double p50Us,
        double p99Us, double p999Us, double slowestOfMean, double serverUs, double clientUs,
        double otherCores, double load) {

    public static Measurement of(int round, Work work, Pair pair, Client.Counted counted,
            double load) {
        Client.Outcome told = counted.outcome();
        double usPerOperation = 1e6 / told.iops();
        return new Measurement(round, work.name(), pair.label(), told.iops(),
                told.iops() * work.requestBytes() / 1e6, told.p50Us(), told.p99Us(), told.p999Us(),
                told.slowestOfMean(), counted.cores().server() * usPerOperation,
                counted.cores().client() * usPerOperation, counted.cores().others(), load);
    }
}
