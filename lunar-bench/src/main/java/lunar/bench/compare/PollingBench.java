package lunar.bench.compare;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import lunar.bench.harness.Arguments;
import lunar.bench.harness.BackingFile;
import lunar.bench.harness.Bench;
import lunar.bench.harness.BenchException;
import lunar.bench.harness.Cores;
import lunar.bench.harness.Machine;
import lunar.bench.harness.Pair;
import lunar.bench.harness.Results;
import lunar.bench.harness.Server;
import lunar.bench.harness.Settings;
import lunar.bench.harness.Spread;
import lunar.bench.harness.TextTable;
import lunar.bench.harness.Work;
import lunar.bench.load.AgentClient;
import lunar.bench.load.Client;
import lunar.bench.load.LoadOrder;

/**
 * Loops that poll beside loops that sleep, in one interleaved run: two servers that differ in {@code --poll} only, and
 * clients that poll and do not. Server and client have a core each, so that no loop polls on a core that the other end
 * needs.
 */
public final class PollingBench {
    private static final int RAMP_MS = 500;
    private static final String SLEEPING = "off";
    private static final String LUNAR = "lunar";
    private static final String LIBISCSI = "libiscsi";
    private static final List<Work> WORKS = List.of(
            new Work("4 KiB random read, depth 1, a core each", Work.Operation.READ, 4096, true, 1,
                    false),
            new Work("4 KiB random read, depth 32, a core each", Work.Operation.READ, 4096, true,
                    32, false),
            new Work("256 KiB sequential read, depth 8, a core each", Work.Operation.READ,
                    256 << 10, false, 8, false));

    /**
     * Both ends of a measurement.
     *
     * @param server {@code --poll} of the server
     * @param client the client's program
     * @param clientPoll {@code ?poll=} of the client; {@code off} where it has no such option
     */
    private record Ends(String server, String client, String clientPoll) {
        @Override
        public String toString() {
            return "server " + server + ", " + client
                    + (client.equals(LUNAR) ? " " + clientPoll : "");
        }
    }

    /** A figure of a round. */
    private record Figure(int round, String work, String ends, double iops, double p50Us,
            double serverUs, double clientUs) {}

    private PollingBench() {}

    /** Measures; writes a table to the terminal and POLLING.json. */
    public static void main(String[] args) throws InterruptedException {
        Bench.main("polling", args, (given, out) -> {
            var own = Map.of("poll", "auto");
            var chosen = Arguments.parse(own, Arguments.select(own.keySet(), true, given));
            run(Settings.parse(Arguments.select(own.keySet(), false, given)),
                    chosen.text("poll"), out);
        });
    }

    private static void run(Settings settings, String poll, PrintStream out)
            throws BenchException, IOException, InterruptedException {
        if (!Cores.ALL.contains("-") && !Cores.ALL.contains(",")) {
            throw new BenchException("a core for each end is needed, and there is only one");
        }
        Path directory = settings.directory();
        Files.createDirectories(directory);
        List<Figure> figures;
        try (var sleeping = server(settings, SLEEPING);
                var polling = server(settings, poll);
                var lunar = new AgentClient(LUNAR, directory.resolve("lunar-client.log"));
                var libiscsi = new AgentClient(LIBISCSI,
                        directory.resolve("libiscsi-client.log"))) {
            figures = measure(settings, Map.of(SLEEPING, sleeping, poll, polling),
                    Map.of(LUNAR, lunar, LIBISCSI, libiscsi), ends(poll), out);
        }
        var results = new Results(settings, Machine.describe(directory, settings.commit()));
        Map<String, Object> tree = results.tree();
        tree.put("poll", poll);
        tree.put("figures", figures);
        Files.writeString(directory.resolve("POLLING.json"), Results.json(tree));
        out.println("\n" + results.run() + "\n" + table(figures).plain());
    }

    private static Server server(Settings settings, String poll)
            throws BenchException, InterruptedException {
        var server = Server.lunar(settings.lunar(),
                settings.directory().resolve("poll-" + poll + ".log"), List.of(),
                List.of("ram:" + BackingFile.BYTES, "--poll", poll));
        Cores.bind(server.pid(), Cores.first());
        return server;
    }

    private static List<Ends> ends(String poll) {
        return List.of(new Ends(SLEEPING, LUNAR, SLEEPING), new Ends(poll, LUNAR, SLEEPING),
                new Ends(SLEEPING, LUNAR, poll), new Ends(poll, LUNAR, poll),
                new Ends(SLEEPING, LIBISCSI, SLEEPING), new Ends(poll, LIBISCSI, SLEEPING));
    }

    private static List<Figure> measure(Settings settings, Map<String, Server> servers,
            Map<String, Client> clients, List<Ends> pairs, PrintStream out)
            throws BenchException, InterruptedException {
        var random = new Random(settings.seed());
        var figures = new ArrayList<Figure>();
        for (int round = 0; round <= settings.rounds(); round++) { // round 0 warms up
            for (Work work : WORKS) {
                var order = new ArrayList<>(pairs);
                Collections.shuffle(order, random);
                for (Ends ends : order) {
                    Figure figure = figure(round, work, ends, settings.seconds(), servers, clients);
                    if (round > 0) {
                        figures.add(figure);
                        out.printf(Locale.ROOT, "%2d  %-44s %-36s %9.0f/s%n", round, work.name(),
                                ends, figure.iops);
                    }
                }
            }
        }
        return figures;
    }

    private static Figure figure(int round, Work work, Ends ends, int seconds,
            Map<String, Server> servers, Map<String, Client> clients)
            throws BenchException, InterruptedException {
        Server server = Objects.requireNonNull(servers.get(ends.server));
        Client client = Objects.requireNonNull(clients.get(ends.client));
        String uri = server.uri(0)
                + (ends.client.equals(LUNAR) ? "?poll=" + ends.clientPoll : "");
        Client.Counted counted = client.run(
                new LoadOrder(uri, BackingFile.BYTES, work, 1, Pair.Terms.USUAL, RAMP_MS,
                        seconds * 1000),
                server.pid(), Optional.of(Cores.last()));
        double usPerOperation = 1e6 / counted.outcome().iops();
        return new Figure(round, work.name(), ends.toString(), counted.outcome().iops(),
                counted.outcome().p50Us(), counted.cores().server() * usPerOperation,
                counted.cores().client() * usPerOperation);
    }

    /** A row for each work and pair of ends; ratios are to the sleeping ends of the same client and round. */
    private static TextTable table(List<Figure> figures) {
        var table = new TextTable("work", "ends", "operations/s", "p50 us", "server us/op",
                "client us/op", "ratio to both asleep: median (range)");
        var rows = new LinkedHashMap<String, List<Figure>>();
        figures.forEach(one -> rows
                .computeIfAbsent(one.work + " | " + one.ends, _ -> new ArrayList<>()).add(one));
        for (List<Figure> row : new TreeMap<>(rows).values()) {
            Figure first = row.getFirst();
            String base = new Ends(SLEEPING,
                    first.ends.contains(LIBISCSI) ? LIBISCSI : LUNAR, SLEEPING).toString();
            List<Double> ratios = row.stream().map(one -> one.iops / figures.stream()
                    .filter(other -> other.round == one.round && other.work.equals(one.work)
                            && other.ends.equals(base))
                    .findFirst().orElseThrow().iops).toList();
            table.row(first.work, first.ends, median(row.stream().map(Figure::iops).toList(), 0),
                    median(row.stream().map(Figure::p50Us).toList(), 1),
                    median(row.stream().map(Figure::serverUs).toList(), 2),
                    median(row.stream().map(Figure::clientUs).toList(), 2),
                    Spread.of(ratios).text(2));
        }
        return table;
    }

    private static String median(List<Double> values, int decimals) {
        return String.format(Locale.ROOT, "%." + decimals + "f", Spread.of(values).median());
    }
}
