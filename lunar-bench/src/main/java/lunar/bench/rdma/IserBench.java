package lunar.bench.rdma;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import lunar.bench.compare.Agenda;
import lunar.bench.compare.Agenda.Entry;
import lunar.bench.compare.Rig;
import lunar.bench.harness.Arguments;
import lunar.bench.harness.BackingFile;
import lunar.bench.harness.Bench;
import lunar.bench.harness.BenchException;
import lunar.bench.harness.Machine;
import lunar.bench.harness.Pair;
import lunar.bench.harness.Results;
import lunar.bench.harness.Server;
import lunar.bench.harness.Settings;
import lunar.bench.harness.Spread;
import lunar.bench.harness.Subject;
import lunar.bench.harness.TextTable;
import lunar.bench.harness.Work;
import lunar.bench.harness.Work.Operation;
import lunar.bench.load.AgentClient;
import lunar.bench.load.Client;
import lunar.bench.load.Measurement;

/**
 * Compares iSER over RDMA devices with TCP, Lunar at both ends, in one interleaved run: latency of a command without
 * data, reads and writes by size, and by number of clients, as in the paper on an iSER target for object-based storage.
 * Each transport has a server process of its own; one client process drives all of them. Prints the results, and writes
 * them to ISER.json and ISER.md.
 */
public final class IserBench {
    private static final String TCP = "TCP";
    private static final int DEPTH = 8;
    private static final int CLIENT_BYTES = 256 << 10;
    private static final int CLIENT_DEPTH = 2;

    private IserBench() {}

    /** Runs the benchmark. See {@code scripts/bench}. */
    public static void main(String[] args) throws InterruptedException {
        Bench.main("iser", args, (given, out) -> {
            var own = Map.of("devices", "libfabric:tcp,libfabric:shm", "sizes",
                    "4096,16384,65536,262144,1048576", "clients", "1,2,4,8,16");
            run(Settings.parse(Arguments.select(own.keySet(), false, given)),
                    Arguments.parse(own, Arguments.select(own.keySet(), true, given)), out);
        });
    }

    private static void run(Settings settings, Arguments own, PrintStream out)
            throws BenchException, IOException, InterruptedException {
        Path directory = settings.directory();
        Files.createDirectories(directory);
        List<String> devices = List.of(own.text("devices").split(",", -1));
        var servers = new LinkedHashMap<String, Server>();
        List<Measurement> measured;
        Agenda agenda = agenda(devices, own.numbers("sizes"), own.numbers("clients"))
                .choose(settings.works(), settings.pairs());
        try (var client = new AgentClient("lunar", directory.resolve("iser-client.log"))) {
            servers.put(TCP, Server.lunar(settings.lunar(), directory.resolve("iser-none.log"),
                    List.of(), List.of("ram:" + BackingFile.BYTES)));
            for (String device : devices) {
                servers.put(device, Server.iser(settings.lunar(),
                        directory.resolve("iser-" + device.replace(':', '-') + ".log"), device,
                        List.of("ram:" + BackingFile.BYTES)));
            }
            var rig = new Rig(servers, Map.<String, Client>of(Agenda.INITIATOR, client),
                    BackingFile.BYTES, Rig.Before.NOTHING, out);
            rig.warmUp(agenda);
            measured = rig.run(agenda, settings);
        } finally {
            servers.values().forEach(Server::close);
        }
        write(new Results(settings, Machine.describe(directory, settings.commit())), agenda,
                measured, out);
    }

    private static Agenda agenda(List<String> devices, int[] sizes, int[] clients) {
        var works = new ArrayList<Entry>();
        works.add(entry(new Work("no data, depth 1", Operation.NO_DATA, 0, false, 1, false),
                devices, 1));
        for (int bytes : sizes) {
            works.add(entry(work(Operation.READ, bytes, DEPTH, ""), devices, 1));
            works.add(entry(work(Operation.WRITE, bytes, DEPTH, ""), devices, 1));
        }
        for (int count : clients) {
            String suffix = ", clients: " + count;
            works.add(entry(work(Operation.READ, CLIENT_BYTES, CLIENT_DEPTH, suffix), devices,
                    count));
            works.add(entry(work(Operation.WRITE, CLIENT_BYTES, CLIENT_DEPTH, suffix), devices,
                    count));
        }
        return new Agenda(works);
    }

    private static Work work(Operation operation, int bytes, int depth, String suffix) {
        return new Work(bytes / 1024 + " KiB " + operation.name().toLowerCase(Locale.ROOT)
                + ", depth " + depth + suffix, operation, bytes, false, depth, false);
    }

    private static Entry entry(Work work, List<String> devices, int sessions) {
        var pairs = new ArrayList<Pair>();
        pairs.add(pair(TCP, sessions));
        devices.forEach(device -> pairs.add(pair(device, sessions)));
        return new Entry(work, pairs);
    }

    private static Pair pair(String server, int sessions) {
        return Pair.of(new Subject(server, server, 0), Agenda.INITIATOR).withSessions(sessions);
    }

    private static void write(Results results, Agenda agenda, List<Measurement> measured,
            PrintStream out) throws IOException {
        Path directory = results.settings().directory();
        Map<String, Object> tree = results.tree();
        tree.put("measurements", measured);
        Files.writeString(directory.resolve("ISER.json"), Results.json(tree));
        TextTable table = table(agenda, measured);
        Files.writeString(directory.resolve("ISER.md"),
                results.heading("") + "\n" + table.markdown());
        out.println("\n" + results.run() + "\n" + table.plain());
        out.println("written: ISER.json and ISER.md in " + directory);
    }

    /** Returns the results as a table; ratios are to TCP in the same round. */
    private static TextTable table(Agenda agenda, List<Measurement> measured) {
        var table = new TextTable("work", "transport", "operations/s", "MB/s", "p50 us",
                "CPU us/op", "operations, times TCP: median (range)",
                "CPU per operation, times TCP: median (range)");
        for (Entry entry : agenda.entries()) {
            List<Measurement> tcp = List.of();
            for (Pair pair : entry.pairs()) {
                List<Measurement> of = measured.stream()
                        .filter(one -> one.work().equals(entry.work().name())
                                && one.pair().equals(pair.label()))
                        .toList();
                boolean isTcp = pair.subject().server().equals(TCP);
                tcp = isTcp ? of : tcp;
                table.row(entry.work().name(), pair.subject().label(),
                        median(of.stream().map(Measurement::iops).toList(), 0),
                        median(of.stream().map(Measurement::megabytes).toList(), 0),
                        median(of.stream().map(Measurement::p50Us).toList(), 1),
                        median(of.stream().map(IserBench::cpuUs).toList(), 1),
                        isTcp || tcp.isEmpty()
                                ? ""
                                : Results.ratio(of, tcp, Measurement::iops).text(2),
                        isTcp || tcp.isEmpty()
                                ? ""
                                : Results.ratio(of, tcp, IserBench::cpuUs).text(2));
            }
        }
        return table;
    }

    /** CPU time per operation, the sum of both ends. */
    private static double cpuUs(Measurement one) {
        return one.serverUs() + one.clientUs();
    }

    private static String median(List<Double> values, int decimals) {
        return String.format(Locale.ROOT, "%." + decimals + "f", Spread.of(values).median());
    }
}
