package lunar.admin.metrics;

import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.Unit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import lunar.target.status.Latencies;

/**
 * Metric families that are being collected for one scrape, by name and in the order of their first sample. Names are
 * without the suffix {@code _total}, which the formats add to counters. Not thread-safe.
 */
final class Families {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final List<Double> BOUNDS = bounds();

    private final Map<String, CounterSnapshot.Builder> counters = new LinkedHashMap<>();
    private final Map<String, GaugeSnapshot.Builder> gauges = new LinkedHashMap<>();
    private final Map<String, HistogramSnapshot.Builder> histograms = new LinkedHashMap<>();

    private static List<Double> bounds() {
        var bounds = new ArrayList<Double>();
        Latencies.BOUNDS_NANOS.forEach(bound -> bounds.add((double) bound / NANOS_PER_SECOND));
        bounds.add(Double.POSITIVE_INFINITY);
        return List.copyOf(bounds);
    }

    /** Adds a sample of a counter. */
    void counter(String name, String help, Labels labels, long value) {
        counters.computeIfAbsent(name, _ -> CounterSnapshot.builder().name(name).help(help))
                .dataPoint(CounterSnapshot.CounterDataPointSnapshot.builder().labels(labels)
                        .value((double) value).build());
    }

    /** Adds a sample of a gauge that is a whole number. */
    void gauge(String name, String help, Labels labels, long value) {
        gauge(name, help, labels, (double) value);
    }

    /** Adds a sample of a gauge. */
    void gauge(String name, String help, Labels labels, double value) {
        gauges.computeIfAbsent(name, _ -> GaugeSnapshot.builder().name(name).help(help))
                .dataPoint(GaugeSnapshot.GaugeDataPointSnapshot.builder().labels(labels)
                        .value(value).build());
    }

    /** Adds a histogram of durations in seconds. */
    void durations(String name, String help, Labels labels, Latencies latencies) {
        histograms.computeIfAbsent(name,
                _ -> HistogramSnapshot.builder().name(name).help(help).unit(Unit.SECONDS))
                .dataPoint(HistogramSnapshot.HistogramDataPointSnapshot.builder().labels(labels)
                        .classicHistogramBuckets(
                                ClassicHistogramBuckets.of(BOUNDS, latencies.counts()))
                        .sum((double) latencies.totalNanos() / NANOS_PER_SECOND).build());
    }

    /** Returns all families. */
    List<MetricSnapshot> snapshots() {
        var all = new ArrayList<MetricSnapshot>();
        gauges.values().forEach(family -> all.add(family.build()));
        counters.values().forEach(family -> all.add(family.build()));
        histograms.values().forEach(family -> all.add(family.build()));
        return all;
    }
}
