package lunar.bench.figures;

import lunar.bench.harness.Chart;
import lunar.bench.harness.Estimate;
import lunar.bench.harness.Results;
import lunar.bench.harness.Stamps;
import lunar.bench.load.IscsiPerf;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import lunar.bench.harness.Chart.Panel;
import lunar.bench.harness.Chart.Point;
import lunar.bench.harness.Chart.Series;
import lunar.bench.harness.Chart.Tick;
import lunar.bench.figures.Figures.Cell;

/** Tables, plots and JSON of the results of {@link Figures}. */
final class FiguresReport {
    /** Threads of the paper's Figure 3. */
    private static final List<Integer> FEW_THREADS = List.of(1, 5);
    /** Between two marks at one place of Figure 3's x axis. */
    private static final double STEP = 0.16;
    private static final String Y_TITLE = "ms for 1,000 requests (less is better)";

    private final Figures.Plan plan;
    private final Map<Cell, Map<String, List<Double>>> times;
    private final Map<String, String> machine;
    private final List<String> labels;

    /** @param labels of the initiators; the others are compared with the first */
    FiguresReport(Figures.Plan plan, List<String> labels,
            Map<Cell, Map<String, List<Double>>> times,
            Map<String, String> machine) {
        this.plan = plan;
        this.times = times;
        this.machine = machine;
        this.labels = List.copyOf(labels);
    }

    private Optional<Estimate> estimate(Cell cell, String label) {
        return Optional.ofNullable(times.getOrDefault(cell, Map.of()).get(label))
                .map(Estimate::of);
    }

    // --- tables ---

    String tables() {
        var text = new StringBuilder();
        for (boolean write : new boolean[]{false, true}) {
            text.append(String.format(Locale.ROOT, "%n4 KiB random %s, ms for 1,000 requests: mean "
                    + "and 95 %% confidence interval; how often as long as the first, median of the "
                    + "runs%n%-24s", write ? "writes" : "reads", ""));
            labels.forEach(label -> text.append(String.format("%-30s", label)));
            text.append('\n');
            times.keySet().stream().filter(cell -> cell.write() == write)
                    .forEach(cell -> row(text, cell));
        }
        return text.toString();
    }

    private void row(StringBuilder text, Cell cell) {
        text.append(String.format("%-24s", name(cell)));
        for (String label : labels) {
            text.append(String.format("%-30s", estimate(cell, label).map(
                    one -> String.format(Locale.ROOT, "%.2f +- %.2f%s", one.mean(),
                            one.halfWidth(), ratio(cell, label)))
                    .orElse("-")));
        }
        text.append('\n');
    }

    /** Returns the ratio to the first initiator in the same run: other load of the machine met both alike. */
    private String ratio(Cell cell, String label) {
        Map<String, List<Double>> byLabel = times.getOrDefault(cell, Map.of());
        List<Double> first = byLabel.getOrDefault(labels.getFirst(), List.of());
        List<Double> other = byLabel.getOrDefault(label, List.of());
        return other.equals(first) || other.size() != first.size()
                ? ""
                : String.format(Locale.ROOT, ", %.2f times",
                        Results.ratio(other, first, time -> time).median());
    }

    private static String name(Cell cell) {
        String threads = cell.threads() == 1 ? "1 thread" : cell.threads() + " threads";
        return cell.depth() == 1 ? threads : threads + ", " + cell.depth() + " in flight";
    }

    // --- plots ---

    void write() throws IOException {
        String runs = "means of " + plan.runs() + " runs with 95 % confidence intervals; 4 KiB at "
                + "random places, Lunar's target on loopback, memory";
        Files.writeString(plan.out().resolve("figure-3.svg"), new Chart(
                "Figure 3: reads and writes, by one thread and by five", runs, Y_TITLE,
                panels(this::few)).svg());
        Files.writeString(plan.out().resolve("figure-4.svg"), new Chart(
                "Figure 4: reads and writes, over the number of threads", runs, Y_TITLE,
                panels(this::scaling)).svg());
        Files.writeString(plan.out().resolve("figures.json"), json());
    }

    /** Creates a panel of reads, or of writes. */
    @FunctionalInterface
    private interface Plot {
        Panel panel(String title, boolean write);
    }

    private static List<Panel> panels(Plot plot) {
        return List.of(plot.panel("Read", false), plot.panel("Write", true));
    }

    private Panel few(String title, boolean write) {
        var cells = new ArrayList<Cell>();
        FEW_THREADS.forEach(threads -> cells.add(new Cell(write, threads, 1)));
        cells.add(new Cell(write, 1, plan.depth()));
        cells.removeIf(cell -> !times.containsKey(cell));
        List<Tick> ticks = IntStream.range(0, cells.size())
                .mapToObj(i -> new Tick(i, name(cells.get(i)))).toList();
        var series = new ArrayList<Series>();
        for (String label : labels) {
            double offset = (series.size() - (labels.size() - 1) / 2.0) * STEP;
            var points = new ArrayList<Point>();
            for (int i = 0; i < cells.size(); i++) {
                double x = i + offset;
                estimate(cells.get(i), label).ifPresent(one -> points.add(new Point(x, one)));
            }
            series.add(new Series(label, false, points));
        }
        return new Panel(title, "", -0.5, cells.size() - 0.5, ticks, series);
    }

    private Panel scaling(String title, boolean write) {
        Predicate<Cell> shown = cell -> cell.write() == write && cell.depth() == 1;
        List<Cell> cells = times.keySet().stream().filter(shown).toList();
        var series = new ArrayList<Series>();
        for (String label : labels) {
            var points = new ArrayList<Point>();
            if (!label.equals(IscsiPerf.PROGRAM)) { // it has one thread
                cells.forEach(cell -> estimate(cell, label)
                        .ifPresent(one -> points.add(new Point(cell.threads(), one))));
            }
            if (!points.isEmpty()) {
                series.add(new Series(label, true, points));
            }
        }
        int most = plan.threads().getLast();
        return new Panel(title, "threads", 0, most * 1.03, cells.stream()
                .map(cell -> new Tick(cell.threads(), "" + cell.threads())).toList(), series);
    }

    // --- for machines ---

    private String json() {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("machine", machine);
        tree.put("requests", plan.requests());
        tree.put("requestBytes", Stamps.BYTES);
        var cells = new ArrayList<Object>();
        times.forEach((cell, byLabel) -> labels.forEach(label -> {
            List<Double> ms = byLabel.getOrDefault(label, List.of());
            if (ms.isEmpty()) {
                return;
            }
            var one = new LinkedHashMap<String, Object>();
            one.put("initiator", label);
            one.put("write", cell.write());
            one.put("threads", cell.threads());
            one.put("depth", cell.depth());
            one.put("msFor1000Requests", Estimate.of(ms));
            List<Double> first = byLabel.get(labels.getFirst());
            if (first != null && first.size() == ms.size()) {
                one.put("medianRatioToFirst",
                        Results.ratio(ms, first, time -> time).median());
            }
            one.put("runsUs", ms.stream().map(value -> Math.round(1000 * value)).toList());
            cells.add(one);
        }));
        tree.put("cells", cells);
        return Results.json(tree);
    }
}
