package lunar.cli.bench;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * Results of a benchmark for one device, or for all devices together.
 *
 * @param name the device
 * @param reads latencies of reads in nanoseconds
 * @param writes latencies of writes in nanoseconds
 * @param requestBytes bytes of a request
 * @param seconds duration of the measurement
 */
public record Figures(String name, Histogram reads, Histogram writes, int requestBytes,
        double seconds) {

    public long operations() { return reads.getTotalCount() + writes.getTotalCount(); }

    public double iops() { return operations() / seconds; }

    public double megabytesPerSecond() { return iops() * requestBytes / 1e6; }

    private Histogram latencies() {
        Histogram all = Load.histogram();
        all.add(reads);
        all.add(writes);
        return all;
    }

    public static String heading() {
        return String.format(Locale.ROOT, "%11s %10s %9s %9s %9s %9s  %s", "IOPS", "MB/s",
                "p50 us", "p99 us", "p99.9 us", "max us", "device");
    }

    public String line() {
        Histogram all = latencies();
        return String.format(Locale.ROOT, "%11.0f %10.1f %9.1f %9.1f %9.1f %9.1f  %s", iops(),
                megabytesPerSecond(), micros(all, 50), micros(all, 99), micros(all, 99.9),
                all.getMaxValue() / 1e3, name);
    }

    Map<String, Object> tree() {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("name", name);
        tree.put("operations", operations());
        tree.put("iops", rounded(iops()));
        tree.put("readIops", rounded(reads.getTotalCount() / seconds));
        tree.put("writeIops", rounded(writes.getTotalCount() / seconds));
        tree.put("megabytesPerSecond", rounded(megabytesPerSecond()));
        Histogram all = latencies();
        var latency = new LinkedHashMap<String, Object>();
        latency.put("mean", rounded(all.getMean() / 1e3));
        latency.put("p50", rounded(micros(all, 50)));
        latency.put("p99", rounded(micros(all, 99)));
        latency.put("p99.9", rounded(micros(all, 99.9)));
        latency.put("max", rounded(all.getMaxValue() / 1e3));
        tree.put("latencyMicroseconds", latency);
        return tree;
    }

    private static double micros(Histogram histogram, double percentile) {
        return histogram.getValueAtPercentile(percentile) / 1e3;
    }

    static double rounded(double value) { return Math.round(value * 100) / 100.0; }
}
