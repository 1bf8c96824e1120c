package lunar.cli.admin;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import lunar.target.status.Latencies;
import tools.jackson.databind.JsonNode;

/**
 * What commands did per second between two samples.
 *
 * @param name of the unit or session
 * @param reads per second
 * @param writes per second
 * @param others other commands per second
 * @param readBytes per second
 * @param writtenBytes per second
 * @param errors commands per second that failed because of the unit
 * @param inFlight commands now
 * @param readLatency of the time between
 * @param writeLatency of the time between
 */
record Rates(String name, double reads, double writes, double others, double readBytes,
        double writtenBytes, double errors, long inFlight, Latencies readLatency,
        Latencies writeLatency) {
    private static final double NANOS_PER_MS = 1e6;

    /**
     * Returns the rates between two reports of the commands of a unit or session.
     *
     * @param before the earlier one; missing for a new unit or session
     */
    static Rates between(String name, JsonNode before, JsonNode now, double seconds) {
        return new Rates(name, rate(before, now, "reads", seconds),
                rate(before, now, "writes", seconds), rate(before, now, "others", seconds),
                rate(before, now, "readBytes", seconds),
                rate(before, now, "writtenBytes", seconds),
                Math.max(0, (errors(now) - errors(before)) / seconds),
                now.path("inFlight").asLong(0),
                latencies(now.path("readLatency")).since(latencies(before.path("readLatency"))),
                latencies(now.path("writeLatency")).since(latencies(before.path("writeLatency"))));
    }

    private static double rate(JsonNode before, JsonNode now, String key, double seconds) {
        return Math.max(0,
                (now.path(key).asLong(0) - before.path(key).asLong(0)) / seconds);
    }

    /** Returns the number of commands that failed because of the unit, rather than of the initiator. */
    static long errors(JsonNode commands) {
        JsonNode conditions = commands.path("checkConditions");
        return conditions.path("medium_error").asLong(0)
                + conditions.path("hardware_error").asLong(0)
                + conditions.path("not_ready").asLong(0);
    }

    private static Latencies latencies(JsonNode latency) {
        List<Long> counts = new ArrayList<>();
        latency.path("buckets").forEach(count -> counts.add(count.asLong(0)));
        return counts.size() == Latencies.BUCKETS
                ? new Latencies(counts, latency.path("totalNanos").asLong(0))
                : Latencies.NONE; // of a new unit, or of a server of another version
    }

    /** Returns all commands per second. */
    double operations() { return reads + writes + others; }

    double readMeanMs() { return readLatency.meanNanos() / NANOS_PER_MS; }

    /** Returns the bound below which 99% of the reads were. */
    double readMs99() {
        return readLatency.quantileNanos(0.99) / NANOS_PER_MS;
    }

    double writeMeanMs() { return writeLatency.meanNanos() / NANOS_PER_MS; }

    /** Returns the bound below which 99% of the writes were. */
    double writeMs99() {
        return writeLatency.quantileNanos(0.99) / NANOS_PER_MS;
    }

    /** Returns the rates for JSON. */
    Map<String, Object> tree() {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("name", name);
        tree.put("readsPerSecond", reads);
        tree.put("writesPerSecond", writes);
        tree.put("othersPerSecond", others);
        tree.put("readBytesPerSecond", readBytes);
        tree.put("writtenBytesPerSecond", writtenBytes);
        tree.put("errorsPerSecond", errors);
        tree.put("inFlight", inFlight);
        tree.put("readMeanMs", readMeanMs());
        tree.put("readP99Ms", readMs99());
        tree.put("writeMeanMs", writeMeanMs());
        tree.put("writeP99Ms", writeMs99());
        return tree;
    }
}
