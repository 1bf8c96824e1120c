package lunar.bench.raid;

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
import java.util.Random;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.regex.Pattern;
import lunar.bench.harness.Arguments;
import lunar.bench.harness.Bench;
import lunar.bench.harness.BenchException;
import lunar.bench.harness.Machine;
import lunar.bench.harness.Results;
import lunar.bench.harness.Spread;
import lunar.bench.harness.TextTable;
import lunar.raid.metadata.record.Consistency;

/**
 * Measures the cost of RAID 5 without a network: four members in memory, one requesting thread. Each volume runs each
 * workload once per round, in random order, after a warm-up round; requests to a single member show the rate of the
 * memory. Results are written to the terminal, to RAID.json and to RAID.md.
 */
public final class RaidBench {
    private record Turn(RaidSubject subject, RaidWork work) {}

    private RaidBench() {}

    /** Prints a table. See {@code scripts/bench}. */
    public static void main(String[] args) throws InterruptedException {
        Bench.main("raid", args, RaidBench::run);
    }

    private static void run(String[] args, PrintStream out)
            throws BenchException, IOException, InterruptedException {
        var given = Arguments.parse(Map.of("rounds", "5", "millis", "400", "mib", "64", "seed",
                "1", "works", "", "lunar", "./lunar", "dir", "lunar-bench/target/bench", "commit",
                "unknown"), args);
        Path directory = given.path("dir");
        Files.createDirectories(directory);
        Map<String, String> machine = Machine.describe(directory, given.text("commit"));
        List<RaidFigure> figures = measure(given);
        TextTable table = table(figures);
        String run = "RAID 5 of 4 members of %d MiB in memory; %d rounds of %d ms each, seed %d"
                .formatted(given.number("mib"), given.number("rounds"), given.number("millis"),
                        given.number("seed"));
        out.println(run + "\n");
        out.println(table.plain());
        var tree = new LinkedHashMap<String, Object>();
        tree.put("machine", machine);
        tree.put("run", run);
        tree.put("figures", figures);
        Files.writeString(directory.resolve("RAID.json"), Results.json(tree));
        Files.writeString(directory.resolve("RAID.md"), run + "\n\n" + table.markdown());
        out.println("written: RAID.json and RAID.md in " + directory);
    }

    private static List<RaidFigure> measure(Arguments given)
            throws BenchException, IOException, InterruptedException {
        int mib = given.number("mib");
        long nanos = given.number("millis") * 1_000_000L;
        Predicate<String> wanted = Pattern.compile(given.text("works")).asPredicate();
        var subjects = List.of(RaidSubject.member(mib),
                RaidSubject.volume("journal on members", Consistency.JOURNAL, mib),
                RaidSubject.volume("bitmap only", Consistency.BITMAP, mib),
                RaidSubject.volume("nothing", Consistency.NONE, mib));
        var turns = new ArrayList<Turn>();
        for (RaidSubject subject : subjects) {
            subject.works().stream().filter(work -> wanted.test(work.title()))
                    .forEach(work -> turns.add(new Turn(subject, work)));
        }
        var random = new Random(given.number("seed"));
        var figures = new ArrayList<RaidFigure>();
        for (int round = 0; round <= given.number("rounds"); round++) {
            Collections.shuffle(turns, random);
            for (Turn turn : turns) {
                RaidFigure figure = turn.subject.measure(round, turn.work, nanos, random);
                if (round > 0) { // the first warms up
                    figures.add(figure);
                }
            }
        }
        for (RaidSubject subject : subjects) {
            subject.close();
        }
        return figures;
    }

    // --- the table ---

    private static TextTable table(List<RaidFigure> figures) {
        var table = new TextTable("work", "against crashes", "MB/s: median (range)",
                "CPU s/GB: median");
        for (RaidWork work : RaidWork.values()) {
            List<RaidFigure> same = figures.stream()
                    .filter(figure -> figure.work().equals(work.title())).toList();
            same.stream().map(RaidFigure::subject).distinct().sorted().forEach(subject -> {
                List<RaidFigure> of = same.stream()
                        .filter(figure -> figure.subject().equals(subject)).toList();
                table.row(work.title(), subject,
                        spread(of, RaidFigure::megabytesPerSecond).text(0),
                        String.format(Locale.ROOT, "%.2f",
                                spread(of, RaidFigure::cpuSecondsPerGigabyte).median()));
            });
        }
        return table;
    }

    private static Spread spread(List<RaidFigure> of, ToDoubleFunction<RaidFigure> what) {
        return Spread.of(of.stream().map(what::applyAsDouble).toList());
    }
}
