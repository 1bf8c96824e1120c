package lunar.bench.compare;

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
import lunar.bench.harness.Spread;
import lunar.bench.harness.Subject;
import lunar.bench.harness.TextTable;
import lunar.bench.harness.Work;
import lunar.bench.load.Client;
import lunar.bench.load.LunarBench;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import lunar.bench.compare.Agenda.Entry;

/**
 * Compares two builds of Lunar, each with its own server and its own {@code lunar bench} as client, in one interleaved
 * run. Ends with status 1 if the newer one is slower.
 */
public final class Compare {
    private static final List<String> LUNS = List.of("memory", "file");
    private static final List<Work> WORKS = List.of(Agenda.ALONE, Agenda.READS, Agenda.WRITES,
            Agenda.LARGE_READS, Agenda.LARGE_WRITES);

    /**
     * A build.
     *
     * @param name of its commit
     * @param lunar its command
     */
    private record Build(String name, Path lunar) {
        Pair pair(String lun) { return Pair.of(new Subject(lun, name, LUNS.indexOf(lun)), name); }
    }

    /** A row of the table. */
    record Row(String work, String lun, Spread before, Spread after, Regression ratio,
            Spread serverUs) {}

    private Compare() {}

    /** Measures; writes a table to the terminal, COMPARE.md and COMPARE.json. */
    public static void main(String[] args) throws InterruptedException {
        Bench.main("compare", args, (given, out) -> {
            var own = Map.of("before", "", "before-name", "before", "after", "", "after-name",
                    "after");
            var builds = Arguments.parse(own, Arguments.select(own.keySet(), true, given));
            run(Settings.parse(Arguments.select(own.keySet(), false, given)),
                    new Build(builds.text("before-name"), builds.path("before")),
                    new Build(builds.text("after-name"), builds.path("after")), out);
        });
    }

    private static void run(Settings settings, Build before, Build after, PrintStream out)
            throws BenchException, IOException, InterruptedException {
        Path directory = settings.directory();
        Files.createDirectories(directory);
        // A file each: Lunar does not share one with another process.
        Path one = BackingFile.prepare(directory, settings.seed());
        Path other = BackingFile.prepare(directory.resolve("other.img"), BackingFile.BYTES,
                settings.seed());
        Agenda agenda = agenda(before, after).choose(settings.works(), settings.pairs());
        List<Measurement> measured;
        try (var first = server(settings, before, one);
                var second = server(settings, after, other)) {
            var rig = new Rig(Map.of(before.name, first, after.name, second),
                    Map.of(before.name, client(settings, before), after.name,
                            client(settings, after)),
                    BackingFile.BYTES, Rig.Before.NOTHING, out);
            rig.warmUp(agenda);
            measured = rig.run(agenda, settings);
        }
        List<Row> rows = rows(agenda, before, after, measured);
        var results = new Results(settings, Machine.describe(directory, settings.commit()));
        Map<String, Object> tree = results.tree();
        tree.put("before", before.name);
        tree.put("after", after.name);
        tree.put("rows", rows);
        tree.put("measurements", measured);
        Files.writeString(directory.resolve("COMPARE.json"), Results.json(tree));
        Files.writeString(directory.resolve("COMPARE.md"),
                results.heading("") + "\n" + table(rows, before, after).markdown());
        out.println("\n" + results.run() + "\n" + table(rows, before, after).plain());
        if (rows.stream().anyMatch(row -> row.ratio.found())) {
            throw new BenchException(after.name + " is slower than " + before.name);
        }
    }

    private static Server server(Settings settings, Build build, Path backing)
            throws BenchException, InterruptedException {
        return Server.lunar(build.lunar, settings.directory().resolve(build.name + ".log"),
                List.of(), List.of("ram:" + BackingFile.BYTES, "file:" + backing));
    }

    private static Client client(Settings settings, Build build) {
        return new LunarBench(build.lunar,
                settings.directory().resolve(build.name + "-client.log"));
    }

    private static Agenda agenda(Build before, Build after) {
        var pairs = new ArrayList<Pair>();
        for (String lun : LUNS) {
            pairs.add(before.pair(lun));
            pairs.add(after.pair(lun));
        }
        return new Agenda(WORKS.stream().map(work -> new Entry(work, pairs)).toList());
    }

    private static List<Row> rows(Agenda agenda, Build before, Build after,
            List<Measurement> measured) {
        var rows = new ArrayList<Row>();
        for (Entry entry : agenda.entries()) {
            for (String lun : LUNS) {
                List<Measurement> first = of(measured, entry.work(), before.pair(lun));
                List<Measurement> second = of(measured, entry.work(), after.pair(lun));
                if (!first.isEmpty() && first.size() == second.size()) {
                    rows.add(row(entry.work(), lun, first, second));
                }
            }
        }
        return rows;
    }

    private static List<Measurement> of(List<Measurement> measured, Work work, Pair pair) {
        return measured.stream().filter(one -> one.work().equals(work.name())
                && one.pair().equals(pair.label())).toList();
    }

    static Row row(Work work, String lun, List<Measurement> before, List<Measurement> after) {
        return new Row(work.name(), lun,
                Spread.of(before.stream().map(Measurement::iops).toList()),
                Spread.of(after.stream().map(Measurement::iops).toList()),
                Regression.of(Results.ratios(after, before, Measurement::iops)),
                Results.ratio(after, before, Measurement::serverUs));
    }

    private static TextTable table(List<Row> rows, Build before, Build after) {
        var table = new TextTable("work", "LUN", before.name + ", operations/s",
                after.name + ", operations/s", "ratio: median (range)", "median is within",
                "server CPU ratio", "verdict");
        for (Row row : rows) {
            table.row(row.work, row.lun, String.format(Locale.ROOT, "%.0f", row.before.median()),
                    String.format(Locale.ROOT, "%.0f", row.after.median()),
                    row.ratio.ratios().text(2), row.ratio.interval(), row.serverUs.text(2),
                    row.ratio.verdict());
        }
        return table;
    }
}
