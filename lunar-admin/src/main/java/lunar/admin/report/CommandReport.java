package lunar.admin.report;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import lunar.scsi.SenseKey;
import lunar.target.status.CommandCounts;
import lunar.target.status.Latencies;

/** Reports counts of commands. */
public final class CommandReport {
    private static final double NANOS_PER_MICRO = 1000;

    private CommandReport() {}

    /** Returns the tree of counts. */
    public static Map<String, Object> tree(CommandCounts counts) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("inFlight", counts.inFlight());
        tree.put("reads", counts.reads().count());
        tree.put("writes", counts.writes().count());
        tree.put("others", counts.others().count());
        tree.put("readBytes", counts.readBytes());
        tree.put("writtenBytes", counts.writtenBytes());
        var conditions = new LinkedHashMap<String, Object>();
        counts.conditions().forEach((key, count) -> conditions.put(word(key), count));
        tree.put("checkConditions", conditions);
        tree.put("reservationConflicts", counts.conflicts());
        tree.put("busy", counts.busy());
        tree.put("aborted", counts.aborted());
        tree.put("delayed", counts.delayed());
        tree.put("readLatency", tree(counts.reads()));
        tree.put("writeLatency", tree(counts.writes()));
        return tree;
    }

    /** Returns the name of a sense key, such as {@code medium_error}. */
    public static String word(SenseKey key) {
        return key.name().toLowerCase(Locale.ROOT);
    }

    private static Map<String, Object> tree(Latencies latencies) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("meanMicros", latencies.meanNanos() / NANOS_PER_MICRO);
        tree.put("p50Micros", latencies.quantileNanos(0.5) / NANOS_PER_MICRO);
        tree.put("p99Micros", latencies.quantileNanos(0.99) / NANOS_PER_MICRO);
        tree.put("totalNanos", latencies.totalNanos());
        tree.put("buckets", latencies.counts());
        return tree;
    }
}
