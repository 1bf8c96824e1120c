package lunar.bench.limits;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import lunar.bench.harness.BackingFile;
import lunar.bench.harness.Bench;
import lunar.bench.harness.BenchException;
import lunar.bench.harness.Machine;
import lunar.bench.harness.Pair;
import lunar.bench.harness.Results;
import lunar.bench.harness.Settings;
import lunar.bench.harness.Spread;
import lunar.bench.harness.TextTable;
import lunar.bench.harness.Work;
import lunar.bench.load.AgentClient;
import lunar.bench.load.LoadOrder;

/**
 * The rate of a LUN with a limit beside the limit, for kinds of load, and the rate of a LUN without one while the other
 * is idle, loaded up to its limit, and loaded without a limit. Limits change by reloads of the running server.
 */
public final class LimitsBench {
    private static final int RAMP_MS = 1000;
    private static final Work LOAD = new Work("4 KiB random read, depth 32",
            Work.Operation.READ, 4096, true, 32, false);
    private static final List<Work> WORKS = List.of(
            new Work("4 KiB random read, depth 1", Work.Operation.READ, 4096, true, 1, false),
            LOAD,
            new Work("64 KiB sequential write, depth 8", Work.Operation.WRITE, 64 << 10, false, 8,
                    false));
    private static final String LOW = "500iops";
    /** Limits with their commands and bytes per second. */
    private static final Map<String, double[]> LIMITS = limits();

    private LimitsBench() {}

    private static Map<String, double[]> limits() {
        var limits = new LinkedHashMap<String, double[]>();
        limits.put(LOW, new double[]{500, Double.MAX_VALUE});
        limits.put("5000iops", new double[]{5000, Double.MAX_VALUE});
        limits.put("8MiB", new double[]{Double.MAX_VALUE, 8 << 20});
        limits.put("2000iops,64MiB", new double[]{2000, 64 << 20});
        return limits;
    }

    /** Measures; writes tables to the terminal and LIMITS.json. */
    public static void main(String[] args) throws InterruptedException {
        Bench.main("limits", args, (given, out) -> run(Settings.parse(given), out));
    }

    private static void run(Settings settings, PrintStream out)
            throws BenchException, IOException, InterruptedException {
        Path directory = settings.directory();
        Files.createDirectories(directory);
        var rates = new LinkedHashMap<String, List<Double>>();
        var others = new LinkedHashMap<String, List<Double>>();
        try (var server = new LimitedServer(settings.lunar(), directory);
                var client = new AgentClient("lunar", directory.resolve("lunar-client.log"));
                var other = new AgentClient("lunar", directory.resolve("other-client.log"))) {
            for (int round = 0; round <= settings.rounds(); round++) { // round 0 warms up
                var measured = new LinkedHashMap<String, Double>();
                exactness(settings, server, client, measured);
                var beside = new LinkedHashMap<String, Double>();
                neighbour(settings, server, client, other, beside);
                if (round > 0) {
                    measured.forEach((row, value) -> rates
                            .computeIfAbsent(row, _ -> new ArrayList<>()).add(value));
                    beside.forEach((row, value) -> others
                            .computeIfAbsent(row, _ -> new ArrayList<>()).add(value));
                }
                out.println("round " + round + " done");
            }
        }
        var results = new Results(settings, Machine.describe(directory, settings.commit()));
        Map<String, Object> tree = results.tree();
        tree.put("rateByLimit", rates);
        tree.put("otherLun", others);
        Files.writeString(directory.resolve("LIMITS.json"), Results.json(tree));
        var exact = new TextTable("limit, load", "rate/limit: median (range)");
        rates.forEach((row, values) -> exact.row(row, Spread.of(values).text(3)));
        var beside = new TextTable("LUN without a limit, while the other is", "operations/s",
                "ratio to idle: median (range)");
        List<Double> alone = others.values().iterator().next();
        others.forEach((row, values) -> beside.row(row,
                String.format(Locale.ROOT, "%.0f", Spread.of(values).median()),
                Results.ratio(values, alone, value -> value).text(2)));
        out.println("\n" + results.run() + "\n" + exact.plain() + "\n" + beside.plain());
    }

    private static void exactness(Settings settings, LimitedServer server, AgentClient client,
            Map<String, Double> rates) throws BenchException, IOException, InterruptedException {
        for (var limit : LIMITS.entrySet()) {
            server.limit(limit.getKey());
            for (Work work : WORKS) {
                for (int sessions : new int[]{1, 4}) {
                    double most = Math.min(limit.getValue()[0],
                            limit.getValue()[1] / work.requestBytes());
                    rates.put(limit.getKey() + ", " + work.name() + ", sessions: " + sessions,
                            load(settings, server, 0, client, work, sessions) / most);
                }
            }
        }
    }

    private static void neighbour(Settings settings, LimitedServer server, AgentClient client,
            AgentClient other, Map<String, Double> rates)
            throws BenchException, IOException, InterruptedException {
        rates.put("idle", load(settings, server, 1, other, LOAD, 1));
        for (String limit : List.of(LOW, "")) {
            server.limit(limit);
            var beside = CompletableFuture.runAsync(() -> {
                try {
                    load(settings, server, 0, client, LOAD, 4);
                } catch (BenchException | InterruptedException e) {
                    throw new CompletionException(e);
                }
            });
            rates.put(limit.isEmpty() ? "loaded without a limit" : "loaded, limit " + limit,
                    load(settings, server, 1, other, LOAD, 1));
            beside.join();
        }
    }

    private static double load(Settings settings, LimitedServer server, int lun,
            AgentClient client, Work work, int sessions)
            throws BenchException, InterruptedException {
        return client.run(new LoadOrder(server.uri(lun), BackingFile.BYTES, work, sessions,
                Pair.Terms.USUAL, RAMP_MS, settings.seconds() * 1000), server.pid(),
                Optional.empty()).outcome().iops();
    }
}
