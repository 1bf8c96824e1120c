package lunar.bench.raid;

import lunar.bench.harness.Results;
import lunar.bench.harness.TextTable;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeSet;
import lunar.bench.raid.IraidCell.Operation;
import lunar.bench.raid.IraidCell.Work;

/** Tables, charts and JSON of the results of {@link Iraid}. */
final class IraidReport {
    private final Results results;
    private final Iraid.Plan plan;
    private final List<IraidFigure> figures;

    IraidReport(Results results, Iraid.Plan plan, List<IraidFigure> figures) {
        this.results = results;
        this.plan = plan;
        this.figures = List.copyOf(figures);
    }

    void write(Path folder) throws IOException {
        String how = "each target throttled to " + plan.throttle()
                + "; means of 4 windows with 95 % confidence intervals";
        for (var chart : new IraidCharts(figures, how).all().entrySet()) {
            Files.writeString(folder.resolve(chart.getKey() + ".svg"), chart.getValue().svg());
        }
        Map<String, Object> tree = results.tree();
        tree.put("throttle", plan.throttle());
        tree.put("windowMs", plan.windowMs());
        tree.put("figures", figures);
        Files.writeString(folder.resolve("iraid.json"), Results.json(tree));
    }

    String markdown() {
        var text = new StringBuilder();
        results.machine().forEach((name, value) -> text.append("- ").append(name).append(": ")
                .append(value).append('\n'));
        text.append("- each target: throttle=").append(plan.throttle()).append(":ram:\n");
        figures.stream().mapToDouble(IraidFigure::cores).max().ifPresent(most -> text.append(
                String.format(Locale.ROOT, "- busiest measurement: %.2f cores%n", most)));
        text.append("\n### To one target, over the size of requests (1 Gbit/s)\n\n")
                .append(overSizes().markdown())
                .append("\n### MB/s, and to one target, with requests of 64 KiB and more\n\n")
                .append(largest().markdown()).append("\n### Goals\n\n")
                .append(goals().markdown());
        return text.toString();
    }

    private OptionalDouble megabytes(IraidSetup setup, Operation operation, int bytes, int mbits) {
        var cell = new IraidCell(setup, new Work(operation, bytes), mbits);
        return figures.stream().filter(figure -> figure.cell().equals(cell))
                .mapToDouble(IraidFigure::mean).findFirst();
    }

    private OptionalDouble ratio(IraidSetup setup, Operation operation, int bytes) {
        OptionalDouble volume = megabytes(setup, operation, bytes, IraidCell.FAST);
        // What is longer than the paper's requests is compared with its longest.
        OptionalDouble target = megabytes(IraidSetup.TARGET, operation,
                Math.min(bytes, IraidCell.LARGEST), IraidCell.FAST);
        return volume.isEmpty() || target.isEmpty()
                ? OptionalDouble.empty()
                : OptionalDouble.of(volume.getAsDouble() / target.getAsDouble());
    }

    private static String text(OptionalDouble value, String format) {
        return value.isEmpty() ? "-" : String.format(Locale.ROOT, format, value.getAsDouble());
    }

    private Set<IraidSetup> setups() {
        return new LinkedHashSet<>(
                figures.stream().map(figure -> figure.cell().setup()).toList());
    }

    private TextTable overSizes() {
        var heading = new ArrayList<>(List.of("volume", "operation"));
        IraidCell.SIZES.forEach(bytes -> heading.add((bytes >> 10) + " KiB"));
        var table = new TextTable(heading.toArray(String[]::new));
        for (IraidSetup setup : setups()) {
            for (Operation operation : Operation.values()) {
                if (ratio(setup, operation, IraidCell.SIZES.getFirst()).isPresent()
                        && !setup.equals(IraidSetup.TARGET)) {
                    var row = new ArrayList<>(List.of(setup.name(), operation.text));
                    IraidCell.SIZES.forEach(
                            bytes -> row.add(text(ratio(setup, operation, bytes), "%.2f")));
                    table.row(row.toArray(String[]::new));
                }
            }
        }
        return table;
    }

    private TextTable largest() {
        var heading = new ArrayList<>(List.of("volume", "network", "request"));
        for (Operation operation : Operation.values()) {
            heading.add(operation.text);
        }
        var table = new TextTable(heading.toArray(String[]::new));
        for (IraidSetup setup : setups()) {
            for (int mbits : IraidCell.MBITS.reversed()) {
                for (int bytes : new TreeSet<>(
                        List.of(IraidCell.LARGEST, Math.max(IraidCell.LARGEST,
                                setup.stripeBytes())))) {
                    var row = new ArrayList<>(List.of(setup.name(), mbits + " Mbit/s",
                            (bytes >> 10) + " KiB"));
                    for (Operation operation : Operation.values()) {
                        OptionalDouble found = megabytes(setup, operation, bytes, mbits);
                        row.add(text(found, "%.2f") + (mbits == IraidCell.FAST
                                && found.isPresent()
                                        ? text(ratio(setup, operation, bytes), " (%.2f)")
                                        : ""));
                    }
                    if (row.stream().skip(3).anyMatch(cell -> !cell.equals("-"))) {
                        table.row(row.toArray(String[]::new));
                    }
                }
            }
        }
        return table;
    }

    private TextTable goals() {
        int large = IraidCell.LARGEST;
        int small = IraidCell.SIZES.getFirst();
        var table = new TextTable("4 targets to one", "wanted", "reached");
        goal(table, "S-iRAID, sequential read, 64 KiB", 3.8,
                ratio(IraidCell.STRIPED, Operation.SEQUENTIAL_READ, large));
        goal(table, "S-iRAID, sequential write, 64 KiB", 3.8,
                ratio(IraidCell.STRIPED, Operation.SEQUENTIAL_WRITE, large));
        goal(table, "S-iRAID, random read, 4 KiB", 3.8,
                ratio(IraidCell.STRIPED, Operation.RANDOM_READ, small));
        goal(table, "S-iRAID, random write, 4 KiB", 3.8,
                ratio(IraidCell.STRIPED, Operation.RANDOM_WRITE, small));
        goal(table, "P-iRAID, sequential read, 64 KiB", 3.6,
                ratio(IraidCell.PARITY, Operation.SEQUENTIAL_READ, large));
        for (IraidSetup setup : List.of(IraidCell.PARITY, IraidCell.NO_JOURNAL)) {
            goal(table, setup.name() + ", writes of whole stripes", 2.8, ratio(setup,
                    Operation.SEQUENTIAL_WRITE, setup.stripeBytes()));
            goal(table, setup.name() + ", random write, 4 KiB (four I/Os)",
                    setup.targets() / 4.0, ratio(setup, Operation.RANDOM_WRITE, small));
        }
        return table;
    }

    private static void goal(TextTable table, String name, double wanted, OptionalDouble reached) {
        table.row(name, String.format(Locale.ROOT, "%.2f", wanted), text(reached, "%.2f"));
    }
}
