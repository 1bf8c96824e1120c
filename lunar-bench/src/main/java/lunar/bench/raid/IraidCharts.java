package lunar.bench.raid;

import lunar.bench.harness.Chart;
import lunar.bench.harness.Estimate;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import lunar.bench.harness.Chart.Panel;
import lunar.bench.harness.Chart.Point;
import lunar.bench.harness.Chart.Series;
import lunar.bench.harness.Chart.Tick;
import lunar.bench.raid.IraidCell.Operation;
import lunar.bench.raid.IraidCell.Work;

/** Figures 5 to 10 of the iRAID paper. */
final class IraidCharts {
    private static final int BITS_PER_BYTE = 8;
    private static final String THROUGHPUT = "MB/s (more is better)";
    private static final String UTILISATION = "% of the link's rate";
    private static final List<Operation> ALL = List.of(Operation.values());
    private static final List<Operation> READS = List.of(Operation.SEQUENTIAL_READ,
            Operation.RANDOM_READ);
    private static final List<Operation> WRITES = List.of(Operation.SEQUENTIAL_WRITE,
            Operation.RANDOM_WRITE);

    private final Map<IraidCell, IraidFigure> figures = new LinkedHashMap<>();
    private final String how;

    /** @param how it was measured */
    IraidCharts(List<IraidFigure> figures, String how) {
        figures.forEach(figure -> this.figures.put(figure.cell(), figure));
        this.how = how;
    }

    /** Returns the charts by file name. */
    Map<String, Chart> all() {
        var charts = new LinkedHashMap<String, Chart>();
        charts.put("iraid-5", new Chart("Figure 5: throughput over the size of requests, 4 targets",
                how + "; 1 Gbit/s", THROUGHPUT, figure5()));
        charts.put("iraid-6", networks());
        charts.put("iraid-7", new Chart("Figure 7: network utilisation of S-iRAID, 4 targets",
                how + "; 64 KiB", UTILISATION,
                utilisation("network", onNetworks(IraidCell.STRIPED))));
        charts.put("iraid-8", new Chart("Figure 8: throughput over the number of targets",
                how + "; 64 KiB", THROUGHPUT, targets(figure8())));
        charts.put("iraid-9", new Chart("Figure 9: S-iRAID over targets and sizes of requests",
                how + "; 1 Gbit/s", THROUGHPUT, targets(figure9())));
        charts.put("iraid-10", new Chart(
                "Figure 10: network utilisation of S-iRAID over the number of targets",
                how + "; 64 KiB, 1 Gbit/s", UTILISATION,
                utilisation("targets",
                        Map.of("S-iRAID", overTargets(IraidCell.LARGEST, IraidCell.FAST)))));
        charts.values().removeIf(
                chart -> chart.panels().stream().allMatch(panel -> panel.series().isEmpty()));
        return charts;
    }

    // --- curves: what is measured at places of the x axis ---

    private record Place(double x, String text, IraidSetup setup, int bytes, int mbits) {}

    private static List<Place> overSizes(IraidSetup setup) {
        return IraidCell.SIZES.stream().map(bytes -> new Place(log2(bytes), (bytes >> 10) + " KiB",
                setup, bytes, IraidCell.FAST)).toList();
    }

    private static List<Place> overNetworks(IraidSetup setup) {
        return IntStream.range(0, IraidCell.MBITS.size()).mapToObj(i -> new Place(i,
                network(IraidCell.MBITS.get(i)), setup, IraidCell.LARGEST, IraidCell.MBITS.get(i)))
                .toList();
    }

    private static List<Place> overTargets(int bytes, int mbits) {
        return IraidCell.TARGETS.stream().map(count -> new Place(count, "" + count,
                count == 1 ? IraidSetup.TARGET : IraidSetup.striped(count), bytes, mbits)).toList();
    }

    private static String network(int mbits) {
        return mbits == IraidCell.FAST ? "1 Gbit/s" : mbits + " Mbit/s";
    }

    private static double log2(int bytes) { return Math.log(bytes) / Math.log(2); }

    private static Map<String, List<Place>> onNetworks(IraidSetup... setups) {
        var curves = new LinkedHashMap<String, List<Place>>();
        for (IraidSetup setup : setups) {
            curves.put(setup.name(), overNetworks(setup));
        }
        return curves;
    }

    private static Map<String, List<Place>> figure8() {
        var curves = new LinkedHashMap<String, List<Place>>();
        for (int mbits : IraidCell.MBITS.reversed()) {
            curves.put("S-iRAID, " + network(mbits), overTargets(IraidCell.LARGEST, mbits));
        }
        curves.put("P-iRAID, 1 Gbit/s", IraidCell.TARGETS.stream().filter(count -> count > 2)
                .map(count -> new Place(count, "" + count, IraidSetup.parity(count),
                        IraidCell.LARGEST, IraidCell.FAST))
                .toList());
        return curves;
    }

    private static Map<String, List<Place>> figure9() {
        var curves = new LinkedHashMap<String, List<Place>>();
        for (int bytes : IraidCell.SIZES.reversed()) {
            curves.put((bytes >> 10) + " KiB", overTargets(bytes, IraidCell.FAST));
        }
        return curves;
    }

    // --- panels ---

    private List<Panel> figure5() {
        var curves = new LinkedHashMap<String, List<Place>>();
        for (IraidSetup setup : List.of(IraidSetup.TARGET, IraidCell.STRIPED, IraidCell.PARITY,
                IraidCell.NO_JOURNAL, IraidCell.DEGRADED)) {
            curves.put(setup.name(), overSizes(setup));
        }
        var panels = new ArrayList<>(List.of(panel("average of the four", "request", curves, ALL,
                IraidCharts::megabytes)));
        for (Operation operation : ALL) {
            panels.add(panel(operation.text, "request", curves, List.of(operation),
                    IraidCharts::megabytes));
        }
        return panels;
    }

    private Chart networks() {
        Map<String, List<Place>> curves = onNetworks(IraidSetup.TARGET, IraidCell.STRIPED,
                IraidCell.PARITY, IraidCell.DEGRADED);
        return new Chart("Figure 6: throughput on three networks, 4 targets", how + "; 64 KiB",
                THROUGHPUT, List.of(
                        panel("average of reads and writes", "network", curves, ALL,
                                IraidCharts::megabytes),
                        panel("reads", "network", curves, READS, IraidCharts::megabytes),
                        panel("writes", "network", curves, WRITES, IraidCharts::megabytes)));
    }

    private List<Panel> targets(Map<String, List<Place>> curves) {
        return List.of(
                panel("average of reads and writes", "targets", curves, ALL,
                        IraidCharts::megabytes),
                panel("reads", "targets", curves, READS, IraidCharts::megabytes),
                panel("writes", "targets", curves, WRITES, IraidCharts::megabytes));
    }

    private List<Panel> utilisation(String x, Map<String, List<Place>> curves) {
        return List.of(panel("reads", x, curves, READS, IraidCharts::utilised),
                panel("writes", x, curves, WRITES, IraidCharts::utilised));
    }

    private static List<Double> megabytes(IraidFigure figure) { return figure.megabytes(); }

    /** Returns the utilization in percent: S-iRAID moves each byte once, in one direction. */
    private static List<Double> utilised(IraidFigure figure) {
        return figure.megabytes().stream()
                .map(one -> 100 * one * BITS_PER_BYTE / figure.cell().mbits()).toList();
    }

    /** Values of a figure to draw, by window. */
    @FunctionalInterface
    private interface Windows {
        List<Double> of(IraidFigure figure);
    }

    private Panel panel(String title, String xTitle, Map<String, List<Place>> curves,
            List<Operation> operations, Windows what) {
        var series = new ArrayList<Series>();
        var ticks = new LinkedHashMap<Double, Tick>();
        curves.forEach((name, places) -> {
            var points = new ArrayList<Point>();
            for (Place place : places) {
                List<Double> means = means(place, operations, what);
                if (!means.isEmpty()) {
                    points.add(new Point(place.x, Estimate.of(means)));
                    ticks.put(place.x, new Tick(place.x, place.text));
                }
            }
            if (!points.isEmpty()) {
                series.add(new Series(name, true, points));
            }
        });
        ToDoubleFunction<Tick> at = Tick::x;
        double from = ticks.values().stream().mapToDouble(at).min().orElse(0);
        double to = ticks.values().stream().mapToDouble(at).max().orElse(1);
        double margin = Math.max(0.1, 0.06 * (to - from));
        return new Panel(title, xTitle, from - margin, to + margin,
                List.copyOf(ticks.values()), series);
    }

    /** Over the operations, for each window; empty if one was not measured. */
    private List<Double> means(Place place, List<Operation> operations, Windows what) {
        var found = new ArrayList<List<Double>>();
        for (Operation operation : operations) {
            IraidFigure figure = figures.get(new IraidCell(place.setup,
                    new Work(operation, place.bytes), place.mbits));
            if (figure == null) {
                return List.of();
            }
            found.add(what.of(figure));
        }
        return IntStream.range(0, found.getFirst().size()).mapToObj(window -> found.stream()
                .mapToDouble(one -> one.get(window)).average().orElseThrow()).toList();
    }
}
