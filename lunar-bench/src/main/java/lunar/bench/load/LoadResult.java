package lunar.bench.load;

import lunar.bench.harness.Latencies;

import java.util.List;

/**
 * Result of a {@link LoadAgent}; a line of JSON.
 *
 * @param error error message, empty on success
 * @param slowestOfMean operations of the slowest session, relative to the average
 */
record LoadResult(String error, long operations, long fromNs, long toNs, double p50Us,
        double p99Us, double p999Us, double slowestOfMean) {

    static LoadResult failed(String why) { return new LoadResult(why, 0, 0, 0, 0, 0, 0, 0); }

    /** @param sessions what each of them did in the window */
    static LoadResult of(LoadOrder.Window window, List<Latencies> sessions) {
        var all = new Latencies();
        sessions.forEach(all::addAll);
        long operations = all.count();
        if (operations == 0) {
            return failed("no operation completed in " + window.seconds() + " s");
        }
        long slowest = sessions.stream().mapToLong(Latencies::count).min().orElse(0);
        return new LoadResult("", operations, window.fromNs(), window.toNs(),
                all.percentile(0.5), all.percentile(0.99), all.percentile(0.999),
                slowest * (double) sessions.size() / operations);
    }

    double seconds() { return (toNs - fromNs) / 1e9; }
}
