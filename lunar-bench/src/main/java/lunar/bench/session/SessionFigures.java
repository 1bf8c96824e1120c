package lunar.bench.session;

import lunar.bench.harness.Results;
import lunar.bench.harness.ServerProbe;
import lunar.bench.harness.Work;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.function.ToLongFunction;

/**
 * Results of {@link ManySessions}.
 *
 * @param empty before the sessions
 * @param idling with the idle ones
 * @param working with the active ones too
 * @param after after all have logged out
 * @param idleCores cores used by the idle sessions
 * @param beside reads and writes with idle sessions
 * @param alone reads and writes without idle sessions
 */
record SessionFigures(int idle, int active, int depth, ServerProbe.Snapshot empty,
        ServerProbe.Snapshot idling, ServerProbe.Snapshot working, ServerProbe.Snapshot after,
        double loginsPerSecond, double logoutsPerSecond, double idleCores, Work beside,
        Work alone) {
    /**
     * Requests of 4 KiB at random places, half of them writes.
     *
     * @param iops requests ended in a second
     * @param p50Us latency of a request that half of them do not exceed
     * @param p99Us the same of 99 in 100
     * @param cores of the machine that the server was busy on
     */
    record Work(double iops, double p50Us, double p99Us, double cores) {
        private String line(String name) {
            return String.format(Locale.ROOT,
                    "  %-20s%8.0f/s, p50 %5.0f us, p99 %5.0f us, %.1f us of the server's CPU each%n",
                    name, iops, p50Us, p99Us, cores / iops * 1e6);
        }
    }

    private static final double KIB = 1024;

    String table() {
        var text = new StringBuilder(
                String.format(Locale.ROOT, "%n%-22s%14s%14s%14s%14s%14s%n", "server", "empty",
                        idle + " idle", "per session", "+ " + active + " at work", "logged out"));
        row(text, "living heap, KiB", KIB, ServerProbe.Snapshot::heapBytes);
        row(text, "direct memory, KiB", KIB, ServerProbe.Snapshot::directBytes);
        row(text, "resident, KiB", KIB, ServerProbe.Snapshot::residentBytes);
        row(text, "threads", 1, ServerProbe.Snapshot::threads);
        text.append(String.format(Locale.ROOT, "%nlogins %.0f/s, logouts %.0f/s%n", loginsPerSecond,
                logoutsPerSecond));
        text.append(String.format(Locale.ROOT, "%d idle sessions: %.2f %% of a core%n", idle,
                100 * idleCores));
        text.append(String.format(Locale.ROOT, "%d sessions, depth %d, 4 KiB random, half of it "
                + "writes:%n", active, depth));
        text.append(beside.line("beside " + idle + " idle"))
                .append(alone.line("alone"));
        return text.toString();
    }

    private void row(StringBuilder text, String name, double unit,
            ToLongFunction<ServerProbe.Snapshot> value) {
        text.append(String.format(Locale.ROOT, "%-22s%14.0f%14.0f%14.2f%14.0f%14.0f%n", name,
                value.applyAsLong(empty) / unit, value.applyAsLong(idling) / unit,
                (value.applyAsLong(idling) - value.applyAsLong(empty)) / unit / idle,
                value.applyAsLong(working) / unit, value.applyAsLong(after) / unit));
    }

    String json(String commit) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("lunar", commit);
        tree.put("cores", Runtime.getRuntime().availableProcessors());
        tree.put("jdk", Runtime.version().toString());
        tree.put("figures", this);
        return Results.json(tree);
    }
}
