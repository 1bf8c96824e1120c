package lunar.bench.paths;

import lunar.bench.compare.Agenda;
import lunar.bench.harness.Chart;
import lunar.bench.harness.Estimate;
import lunar.bench.load.Measurement;
import lunar.bench.harness.Results;
import lunar.bench.harness.Spread;
import lunar.bench.harness.Subject;
import lunar.bench.harness.TextTable;
import lunar.bench.harness.Work;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import lunar.bench.compare.Agenda.Entry;
import lunar.bench.harness.Chart.Panel;
import lunar.bench.harness.Chart.Point;
import lunar.bench.harness.Chart.Series;
import lunar.bench.harness.Chart.Tick;
import lunar.bench.harness.Work.Operation;

/** Tables, charts and JSON of the results of {@link Paths}. */
final class PathsReport {
    private static final String NOTE = "With direct I/O (direct), or if data must be "
            + "stable before the response (sync), the disk is the limit, not the target.";
    private static final int KIB = 1024;

    private final Results results;
    private final int depth;
    private final Agenda agenda;
    private final List<Subject> subjects;
    private final List<Measurement> measured;

    PathsReport(Results results, int depth, Agenda agenda, List<Subject> subjects,
            List<Measurement> measured) {
        this.results = results;
        this.depth = depth;
        this.agenda = agenda;
        this.subjects = List.copyOf(subjects);
        this.measured = List.copyOf(measured);
    }

    private List<Work> works(Operation operation) {
        return agenda.entries().stream().map(Entry::work)
                .filter(work -> work.operation() == operation).toList();
    }

    private List<Double> values(Work work, Subject subject, ToDoubleFunction<Measurement> what) {
        return measured.stream().filter(one -> one.work().equals(work.name())
                && one.pair().startsWith(subject.label() + " <- "))
                .map(what::applyAsDouble).toList();
    }

    // --- tables ---

    String markdown() {
        var text = new StringBuilder(results.heading("; depth " + depth + "; iSCSI parameters of "
                + "the paper's Table 2"));
        for (Operation operation : List.of(Operation.READ, Operation.WRITE)) {
            List<Work> works = works(operation);
            if (!works.isEmpty()) {
                text.append("\n### ").append(title(operation))
                        .append(", MB/s: median (range)\n\n")
                        .append(table(works, Measurement::megabytes, 1))
                        .append("\n### ").append(title(operation))
                        .append(", processor time of the target, us for a request\n\n")
                        .append(table(works, Measurement::serverUs, 1));
            }
        }
        return text.append('\n').append(NOTE).append('\n').toString();
    }

    private static String title(Operation operation) {
        return operation == Operation.READ ? "Random reads" : "Random writes";
    }

    private String table(List<Work> works, ToDoubleFunction<Measurement> what, int digits) {
        var heading = new ArrayList<>(List.of("path"));
        works.forEach(work -> heading.add(size(work)));
        var table = new TextTable(heading.toArray(String[]::new));
        for (Subject subject : subjects) {
            var row = new ArrayList<>(List.of(subject.label()));
            for (Work work : works) {
                List<Double> values = values(work, subject, what);
                row.add(values.isEmpty() ? "-" : Spread.of(values).text(digits));
            }
            table.row(row.toArray(String[]::new));
        }
        return table.markdown();
    }

    private static String size(Work work) { return work.requestBytes() / KIB + " KiB"; }

    // --- charts ---

    void write(Path folder) throws IOException {
        for (Operation operation : List.of(Operation.READ, Operation.WRITE)) {
            if (!works(operation).isEmpty()) {
                Files.writeString(folder.resolve(
                        "paths-" + operation.name().toLowerCase(Locale.ROOT) + ".svg"),
                        chart(operation).svg());
            }
        }
        Map<String, Object> tree = results.tree();
        tree.put("depth", depth);
        tree.put("measurements", measured);
        Files.writeString(folder.resolve("paths.json"), Results.json(tree));
    }

    private Chart chart(Operation operation) {
        return new Chart(title(operation) + " over the I/O paths of the target",
                "means of " + results.settings().rounds() + " rounds with 95 % confidence "
                        + "intervals; " + depth
                        + " in flight, loopback; MB/s left, requests/s right",
                "MB/s, and thousand requests/s (more is better)",
                List.of(panel("MB/s", operation, Measurement::megabytes),
                        panel("thousand requests/s", operation, one -> one.iops() / 1e3)));
    }

    private Panel panel(String title, Operation operation, ToDoubleFunction<Measurement> what) {
        List<Work> works = works(operation);
        var ticks = new ArrayList<Tick>();
        for (Work work : works) {
            ticks.add(new Tick(x(work), size(work)));
        }
        var series = new ArrayList<Series>();
        for (Subject subject : subjects) {
            var points = new ArrayList<Point>();
            for (Work work : works) {
                List<Double> values = values(work, subject, what);
                if (!values.isEmpty()) {
                    points.add(new Point(x(work), Estimate.of(values)));
                }
            }
            if (!points.isEmpty()) {
                series.add(new Series(subject.label(), true, points));
            }
        }
        return new Panel(title, "request", ticks.getFirst().x() - 0.3, ticks.getLast().x() + 0.3,
                ticks, series);
    }

    /** The sizes double: as far apart each. */
    private static double x(Work work) {
        return Math.log(work.requestBytes() / (double) KIB) / Math.log(2);
    }
}
