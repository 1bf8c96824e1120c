package lunar.bench.paths;

import lunar.bench.compare.Agenda;
import lunar.bench.compare.Rig;
import lunar.bench.harness.Arguments;
import lunar.bench.harness.BackingFile;
import lunar.bench.harness.Bench;
import lunar.bench.harness.BenchException;
import lunar.bench.harness.Machine;
import lunar.bench.load.Measurement;
import lunar.bench.harness.Pair;
import lunar.bench.harness.Results;
import lunar.bench.harness.Server;
import lunar.bench.harness.Settings;
import lunar.bench.harness.Subject;
import lunar.bench.harness.Work;
import lunar.bench.load.AgentClient;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import lunar.bench.compare.Agenda.Entry;
import lunar.bench.harness.Pair.Terms;
import lunar.bench.harness.Server.TgtdLun;
import lunar.bench.harness.Work.Operation;

/**
 * Repeats the experiment of Fujita and Ogawara, "Analysis of iSCSI Target Software": random reads and writes of 2 to 32
 * KiB with their iSCSI parameters, over the I/O paths of Lunar's target and tgtd's, with Lunar's initiator as the
 * client of all paths, in one interleaved run. Each path has its own file, because direct I/O evicts the pages of a
 * file from the page cache. Before each measurement, dirty pages are written back, so that no path pays for another
 * one.
 */
public final class Paths {
    static final List<Integer> SIZES = List.of(2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10);

    private static final String CLIENT = Agenda.INITIATOR;

    /**
     * Plan from the command line.
     *
     * @param depth requests in flight
     * @param bytes of each path's file
     * @param out folder for the charts
     */
    record Plan(Settings settings, int depth, long bytes, Path out) {
        static Plan parse(String... args) throws BenchException {
            var own = Map.of("depth", "8", "mib", "256", "out", "docs/figures");
            var given = Arguments.parse(own, Arguments.select(own.keySet(), true, args));
            return new Plan(Settings.parse(Arguments.select(own.keySet(), false, args)),
                    given.number("depth"), (long) given.number("mib") << 20, given.path("out"));
        }
    }

    private Paths() {}

    /** Measures; writes a table to the terminal and PATHS.md, two charts and the figures in JSON to a folder. */
    public static void main(String[] args) throws InterruptedException {
        Bench.main("paths", args, (given, out) -> run(Plan.parse(given), out));
    }

    private static void run(Plan plan, PrintStream out)
            throws BenchException, IOException, InterruptedException {
        Settings settings = plan.settings;
        Path directory = settings.directory();
        Files.createDirectories(directory);
        Files.createDirectories(plan.out);
        Map<IoPath, Subject> subjects = subjects(IoPath.ALL);
        Agenda agenda = agenda(subjects, plan.depth).choose(settings.works(), settings.pairs());
        var servers = new LinkedHashMap<String, Server>();
        List<Measurement> measured;
        try (var client = new AgentClient("lunar", directory.resolve("lunar-client.log"))) {
            out.println("preparing " + subjects.size() + " files");
            start(plan, List.copyOf(subjects.keySet()), servers);
            var rig = new Rig(servers, Map.of(CLIENT, client), plan.bytes,
                    () -> BackingFile.writeBack(directory.resolve("sync.log")), out);
            rig.warmUp(agenda);
            measured = rig.run(agenda, settings);
        } finally {
            servers.values().forEach(Server::close);
            for (IoPath path : subjects.keySet()) {
                Files.deleteIfExists(file(directory, path));
            }
        }
        var report = new PathsReport(new Results(settings,
                Machine.describe(directory, settings.commit())), plan.depth, agenda,
                subjects.values().stream().toList(), measured);
        Files.writeString(directory.resolve("PATHS.md"), report.markdown());
        report.write(plan.out);
        out.println(report.markdown());
        out.println("written: paths-read.svg, paths-write.svg and paths.json in " + plan.out
                + ", PATHS.md in " + directory);
    }

    /** Each path's LUN: numbers count up at each server, from 1 at tgtd. */
    static Map<IoPath, Subject> subjects(List<IoPath> paths) {
        var next = new LinkedHashMap<String, Integer>();
        var subjects = new LinkedHashMap<IoPath, Subject>();
        for (IoPath path : paths) {
            int lun = next.merge(path.server(), path.tgtd() ? 1 : 0, (before, _) -> before + 1);
            subjects.put(path, new Subject(path.label(), path.server(), lun));
        }
        return subjects;
    }

    static Agenda agenda(Map<IoPath, Subject> subjects, int depth) {
        List<Pair> pairs = subjects.values().stream()
                .map(subject -> Pair.of(subject, CLIENT).withTerms(Terms.PAPER)).toList();
        var entries = new ArrayList<Entry>();
        for (Operation operation : List.of(Operation.READ, Operation.WRITE)) {
            SIZES.forEach(bytes -> entries.add(new Entry(work(operation, bytes, depth), pairs)));
        }
        return new Agenda(entries);
    }

    static Work work(Operation operation, int bytes, int depth) {
        return new Work((bytes >> 10) + " KiB random "
                + (operation == Operation.READ ? "read" : "write"), operation, bytes, true, depth,
                false);
    }

    private static Path file(Path directory, IoPath path) {
        return directory.resolve("path-" + path.label().replace(' ', '-') + ".img");
    }

    private static void start(Plan plan, List<IoPath> paths, Map<String, Server> servers)
            throws BenchException, InterruptedException {
        Settings settings = plan.settings;
        Path directory = settings.directory();
        var tgtd = new ArrayList<TgtdLun>();
        var lunar = new LinkedHashMap<String, List<String>>();
        for (IoPath path : paths) {
            Path file = BackingFile.prepare(file(directory, path), plan.bytes, settings.seed());
            if (path.tgtd()) {
                tgtd.add(new TgtdLun(file, path.option()));
            } else {
                lunar.computeIfAbsent(path.server(), _ -> new ArrayList<>(path.serve()))
                        .add(path.uri(file));
            }
        }
        if (!tgtd.isEmpty()) {
            servers.put("tgtd", Server.tgtd(directory, tgtd,
                    Map.of("MaxRecvDataSegmentLength", "" + (128 << 10))));
        }
        for (var one : lunar.entrySet()) {
            servers.put(one.getKey(), Server.lunar(settings.lunar(),
                    directory.resolve("lunar-" + servers.size() + ".log"), List.of(),
                    one.getValue()));
        }
    }
}
