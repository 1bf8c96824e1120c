package lunar.bench.rdma;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import lunar.bench.harness.Results;
import lunar.bench.harness.Spread;
import lunar.bench.harness.TextTable;

/** Presents results as tables: medians, and the median of the ratios to raw C in the same round. */
final class JaviaReport {
    private final List<BorderCosts.Cost> costs;
    private final List<JaviaFigure> figures;

    JaviaReport(List<BorderCosts.Cost> costs, List<JaviaFigure> figures) {
        this.costs = costs;
        this.figures = figures;
    }

    /** A table and its heading. */
    record Section(String heading, TextTable table) {}

    /** Returns all tables. */
    List<Section> sections() {
        var sections = new ArrayList<Section>();
        sections.add(new Section("Cost of the border, nanoseconds: median (range)", costs()));
        figures.stream().map(JaviaFigure::device).distinct().forEach(device -> {
            sections.add(new Section(
                    "Round trip over " + device + ", microseconds: median, and times raw C",
                    table(device, Mode.ECHO)));
            sections.add(new Section(
                    "Bandwidth over " + device + ", MB/s: median, and percent of raw C",
                    table(device, Mode.STREAM)));
        });
        return sections;
    }

    private TextTable costs() {
        var table = new TextTable("operation", "ns");
        costs.forEach(cost -> table.row(cost.operation(),
                cost.nanos().text(cost.nanos().median() < 100 ? 2 : 0)));
        return table;
    }

    private TextTable table(String device, Mode mode) {
        List<String> contenders = figures.stream().filter(one -> one.device().equals(device))
                .map(JaviaFigure::contender).distinct().sorted(JaviaReport::order).toList();
        var heading = new ArrayList<>(List.of("bytes"));
        heading.addAll(contenders);
        var table = new TextTable(heading.toArray(String[]::new));
        figures.stream().filter(one -> one.device().equals(device) && one.mode() == mode)
                .mapToInt(JaviaFigure::messageBytes).distinct().sorted().forEach(bytes -> {
                    var row = new ArrayList<>(List.of(Integer.toString(bytes)));
                    List<JaviaFigure> raw = figures(device, mode, bytes, RawC.NAME);
                    contenders.forEach(contender -> row
                            .add(cell(mode, figures(device, mode, bytes, contender), raw)));
                    table.row(row.toArray(String[]::new));
                });
        return table;
    }

    /** Orders contenders by name, with raw C first. */
    private static int order(String left, String right) {
        return left.equals(RawC.NAME) ? -1 : right.equals(RawC.NAME) ? 1 : left.compareTo(right);
    }

    /** Returns the results of a contender, in the order of the rounds. */
    private List<JaviaFigure> figures(String device, Mode mode, int bytes, String contender) {
        return figures.stream()
                .filter(one -> one.device().equals(device) && one.mode() == mode
                        && one.messageBytes() == bytes && one.contender().equals(contender))
                .toList();
    }

    private static String cell(Mode mode, List<JaviaFigure> of, List<JaviaFigure> raw) {
        if (of.isEmpty()) {
            return "";
        }
        String figure = String.format(Locale.ROOT, mode == Mode.ECHO ? "%.2f" : "%.1f",
                Spread.of(of.stream().map(JaviaFigure::figure).toList()).median());
        if (of.size() != raw.size() || of.getFirst().contender().equals(RawC.NAME)) {
            return figure;
        }
        double ratio = Results.ratio(of, raw, JaviaFigure::figure).median();
        return figure + (mode == Mode.ECHO
                ? String.format(Locale.ROOT, " (%.2fx)", ratio)
                : String.format(Locale.ROOT, " (%.0f%%)", 100 * ratio));
    }
}
