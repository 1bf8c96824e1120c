package lunar.bench.compare;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import lunar.bench.compare.Agenda.Entry;
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
import lunar.bench.load.AgentClient;
import lunar.bench.load.Client;
import lunar.bench.load.Measurement;
import lunar.bench.load.PacingProxy;

/**
 * Compares Lunar's initiator with libiscsi at large reads, by the way in which the data come: from tgtd with Data-In
 * PDUs of 4 KiB to 256 KiB, from Lunar's target with loops that poll, and from tgtd behind a relay that passes small
 * pieces on.
 */
public final class DataInBench {
    private static final int[] PDU_KIB = {4, 8, 16, 64, 256};
    /** Bytes of a piece, and nanoseconds for it: a TCP segment of Ethernet at 1.2 GB/s; a large one at 650 MB/s. */
    private static final int[][] PIECES = {{1448, 1_200}, {16 << 10, 25_000}};

    private DataInBench() {}

    /** Measures; writes a table to the terminal, and DATA-IN.json. */
    public static void main(String[] args) throws InterruptedException {
        Bench.main("data-in", args, (given, out) -> run(Settings.parse(given), out));
    }

    private static void run(Settings settings, PrintStream out)
            throws BenchException, IOException, InterruptedException {
        Path directory = settings.directory();
        Files.createDirectories(directory);
        var servers = new LinkedHashMap<String, Server>();
        List<Measurement> measured;
        Agenda agenda;
        try (var lunar = new AgentClient("lunar", directory.resolve("lunar-client.log"));
                var libiscsi = new AgentClient("libiscsi",
                        directory.resolve("libiscsi-client.log"))) {
            List<Subject> subjects = start(settings, servers);
            agenda = new Agenda(List.of(new Entry(Agenda.LARGE_READS,
                    subjects.stream().flatMap(subject -> List.of(
                            Pair.of(subject, Agenda.LIBISCSI), Pair.of(subject, Agenda.INITIATOR))
                            .stream()).toList())))
                    .choose(settings.works(), settings.pairs());
            var rig = new Rig(servers,
                    Map.<String, Client>of(Agenda.INITIATOR, lunar, Agenda.LIBISCSI, libiscsi),
                    BackingFile.BYTES, Rig.Before.NOTHING, out);
            rig.warmUp(agenda);
            measured = rig.run(agenda, settings);
        } finally {
            servers.values().forEach(Server::close);
        }
        var results = new Results(settings, Machine.describe(directory, settings.commit()));
        Map<String, Object> tree = results.tree();
        tree.put("measurements", measured);
        Files.writeString(directory.resolve("DATA-IN.json"), Results.json(tree));
        out.println("\n" + results.run() + "\n" + table(agenda, measured).plain());
    }

    private static List<Subject> start(Settings settings, Map<String, Server> servers)
            throws BenchException, IOException, InterruptedException {
        Path directory = settings.directory();
        Path backing = BackingFile.prepare(directory, settings.seed());
        var subjects = new ArrayList<Subject>();
        for (int kib : PDU_KIB) {
            String name = "tgtd, Data-In of " + kib + " KiB";
            servers.put(name, Server.tgtd(directory, List.of(new Server.TgtdLun(backing, "")),
                    Map.of("MaxXmitDataSegmentLength", "" + (kib << 10))));
            subjects.add(new Subject(name, name, 1));
        }
        String polling = "Lunar, polling";
        servers.put(polling, Server.lunar(settings.lunar(), directory.resolve("polling.log"),
                List.of(), List.of("ram:" + BackingFile.BYTES, "--poll", "auto")));
        subjects.add(new Subject(polling, polling, 0));
        int target = Objects.requireNonNull(servers.get("tgtd, Data-In of 256 KiB")).port();
        for (int[] piece : PIECES) {
            String name = "tgtd, pieces of " + piece[0] + " bytes every " + piece[1] + " ns";
            servers.put(name, Server.of(PacingProxy.class, directory.resolve("proxy.log"),
                    "" + target, "" + piece[0], "" + piece[1]));
            subjects.add(new Subject(name, name, 1));
        }
        return subjects;
    }

    private static TextTable table(Agenda agenda, List<Measurement> measured) {
        var table = new TextTable("target", "libiscsi, reads/s", "Lunar, reads/s",
                "ratio: median (range)", "client CPU per read, ratio");
        for (Entry entry : agenda.entries()) {
            entry.pairs().stream().map(Pair::subject).distinct().forEach(subject -> {
                List<Measurement> theirs = of(measured, Pair.of(subject, Agenda.LIBISCSI));
                List<Measurement> ours = of(measured, Pair.of(subject, Agenda.INITIATOR));
                if (!theirs.isEmpty() && theirs.size() == ours.size()) {
                    table.row(subject.label(), median(theirs), median(ours),
                            Results.ratio(ours, theirs, Measurement::iops).text(2),
                            Results.ratio(ours, theirs, Measurement::clientUs).text(2));
                }
            });
        }
        return table;
    }

    private static List<Measurement> of(List<Measurement> measured, Pair pair) {
        return measured.stream().filter(one -> one.pair().equals(pair.label())).toList();
    }

    private static String median(List<Measurement> of) {
        return String.format(Locale.ROOT, "%.0f",
                Spread.of(of.stream().map(Measurement::iops).toList()).median());
    }
}
