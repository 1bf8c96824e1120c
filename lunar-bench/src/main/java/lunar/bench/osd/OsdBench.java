package lunar.bench.osd;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import lunar.bench.harness.Arguments;
import lunar.bench.harness.Bench;
import lunar.bench.harness.BenchException;
import lunar.bench.harness.Machine;
import lunar.bench.harness.Results;
import lunar.bench.harness.Server;
import lunar.bench.harness.Settings;
import lunar.initiator.Initiator;
import lunar.initiator.InitiatorOptions;
import lunar.initiator.IscsiUri;

/**
 * Repeats the measurements of the paper on an iSER target for object-based storage, with Lunar at both ends: Table 1
 * (latency of commands), Figures 3 and 4 (throughput of one client by size of messages), Figures 5 and 6 (throughput
 * by number of clients). Transports and durabilities take turns within a round; each has a server process of its own.
 * Prints the results, and writes them to OSD.json and OSD.md.
 */
public final class OsdBench {
    private static final int CLIENT_BYTES = 200_000;
    private static final int WARM_UP = 10_000;

    private OsdBench() {}

    /** Runs the benchmark. See {@code scripts/bench}. */
    public static void main(String[] args) throws InterruptedException {
        Bench.main("osd", args, (given, out) -> {
            var own = Map.of("devices", "libfabric:tcp,libfabric:shm", "count", "1000", "sizes",
                    "4096,16384,65536,131072,204800,262144,524288", "clients", "1,2,4,8,16");
            run(Settings.parse(Arguments.select(own.keySet(), false, given)),
                    Arguments.parse(own, Arguments.select(own.keySet(), true, given)), out);
        });
    }

    private static void run(Settings settings, Arguments own, PrintStream out)
            throws BenchException, IOException, InterruptedException {
        int[] sizes = own.numbers("sizes");
        int[] clients = own.numbers("clients");
        int most = Arrays.stream(clients).max().orElse(1);
        var latencies = new ArrayList<OsdLatencies>();
        var throughputs = new ArrayList<OsdThroughput>();
        var servers = new LinkedHashMap<String, Server>();
        var initiators = new ArrayList<Initiator>();
        var sessions = new LinkedHashMap<String, List<OsdClient>>();
        try {
            start(settings, own, servers);
            for (var server : servers.entrySet()) {
                String uri = server.getValue().uri(0);
                initiators.add(initiator(uri));
                sessions.put(server.getKey(), open(initiators.getLast(), uri, most, out));
            }
            for (int round = 0; round < settings.rounds(); round++) {
                for (var each : sessions.entrySet()) {
                    latencies.add(OsdLatencies.measure(each.getKey(),
                            each.getValue().getFirst(), own.number("count"), most));
                }
                for (boolean reads : new boolean[]{true, false}) {
                    for (int bytes : sizes) {
                        measure(sessions, 1, reads, bytes, settings.seconds(), throughputs);
                    }
                    for (int count : clients) {
                        measure(sessions, count, reads, CLIENT_BYTES, settings.seconds(),
                                throughputs);
                    }
                }
                out.println("round " + (round + 1) + " of " + settings.rounds());
            }
        } finally {
            sessions.values().forEach(list -> list.forEach(OsdClient::close));
            initiators.forEach(Initiator::close);
            servers.values().forEach(Server::close);
        }
        new OsdReport(new Results(settings,
                Machine.describe(settings.directory(), settings.commit())), latencies,
                throughputs).write(out);
    }

    private static void start(Settings settings, Arguments own, Map<String, Server> servers)
            throws BenchException, IOException, InterruptedException {
        Path directory = settings.directory();
        Files.createDirectories(directory);
        servers.put(OsdReport.TCP, Server.lunar(settings.lunar(), directory.resolve("osd-tcp.log"),
                List.of(), List.of(store(directory, "osd-tcp", ""))));
        servers.put(OsdReport.TCP + ", each change stable",
                Server.lunar(settings.lunar(), directory.resolve("osd-sync.log"), List.of(),
                        List.of(store(directory, "osd-sync", "&sync=always"))));
        for (String device : own.text("devices").split(",", -1)) {
            if (!device.isEmpty()) {
                String name = "osd-" + device.replace(':', '-');
                servers.put("iSER, " + device, Server.iser(settings.lunar(),
                        directory.resolve(name + ".log"), device,
                        List.of(store(directory, name, ""))));
            }
        }
    }

    private static String store(Path directory, String name, String options)
            throws IOException {
        Path store = Files.createTempDirectory(directory, name);
        return "osd:" + store.resolve("objects") + "?create=true" + options;
    }

    private static Initiator initiator(String uri) throws IOException {
        return Initiator.create(InitiatorOptions.of("iqn.2026-11.org.lunar:bench-osd")
                .withRdmaDevice(IscsiUri.parse(uri).rdmaProvider()));
    }

    private static List<OsdClient> open(Initiator initiator, String uri, int count,
            PrintStream out) throws IOException {
        out.println(uri);
        var clients = new ArrayList<OsdClient>();
        clients.add(OsdClient.open(initiator, uri));
        clients.getFirst().format();
        for (int i = 1; i < count; i++) {
            clients.add(OsdClient.open(initiator, uri));
        }
        for (int i = 0; i < count; i++) {
            OsdThroughput.prepare(clients.get(i), i);
        }
        OsdLatencies.measure("", clients.getFirst(), WARM_UP, count);
        return clients;
    }

    private static void measure(Map<String, List<OsdClient>> sessions, int clients,
            boolean reads, int bytes, int seconds, List<OsdThroughput> results)
            throws BenchException, InterruptedException {
        for (var each : sessions.entrySet()) {
            results.add(OsdThroughput.measure(each.getKey(),
                    each.getValue().subList(0, clients), 0, reads, bytes, seconds));
        }
    }
}
