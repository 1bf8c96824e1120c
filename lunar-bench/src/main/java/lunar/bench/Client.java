package lunar.bench;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A load generator: an initiator in a process of its own. */
enum Client {
    /** That of libiscsi. It counts from its start, and tells no latencies. */
    ISCSI_PERF("iscsi-perf") {
        private static final Pattern AVERAGE = Pattern.compile("iops average (\\d+) \\(");
        private static final int BLOCK_BYTES = 512;

        @Override
        List<String> command(Path lunar, String uri, Work work, int seconds) {
            var command = new ArrayList<>(List.of("iscsi-perf", "-m", "" + work.depth(), "-b",
                    "" + work.requestBytes() / BLOCK_BYTES, "-t", "" + seconds));
            if (work.random()) {
                command.add("-r");
            }
            command.add(uri);
            return command;
        }

        @Override
        Outcome parse(String output) throws BenchException {
            List<MatchResult> averages = AVERAGE.matcher(output).results().toList();
            return averages.isEmpty()
                    ? fail(output)
                    : new Outcome(Double.parseDouble(averages.getLast().group(1)), 0, 0, 0);
        }
    },

    /** That of Lunar. It counts when it has run for some seconds, in which it is compiled. */
    LUNAR("lunar bench") {
        private static final int RAMP_SECONDS = 2;

        @Override
        List<String> command(Path lunar, String uri, Work work, int seconds) {
            return List.of(lunar.toString(), "bench", uri, "--rw",
                    work.random() ? "randread" : "read", "--bs", "" + work.requestBytes(), "--qd",
                    "" + work.depth(), "--ramp", RAMP_SECONDS + "s", "--time", seconds + "s",
                    "--json");
        }

        @Override
        Outcome parse(String output) throws BenchException {
            int start = output.indexOf('{');
            if (start < 0) {
                return fail(output);
            }
            JsonNode total = new JsonMapper().readTree(output.substring(start)).path("total");
            JsonNode latency = total.path("latencyMicroseconds");
            return new Outcome(total.path("iops").asDouble(), latency.path("p50").asDouble(),
                    latency.path("p99").asDouble(), latency.path("p99.9").asDouble());
        }
    };

    /**
     * What a client tells.
     *
     * @param iops operations per second
     * @param p50Us median latency, 0 where it is not told; so the other two
     */
    record Outcome(double iops, double p50Us, double p99Us, double p999Us) {}

    private final String label;

    Client(String label) { this.label = label; }

    abstract List<String> command(Path lunar, String uri, Work work, int seconds);

    abstract Outcome parse(String output) throws BenchException;

    /** Whether there is such a program; asked of those that are not ours. */
    boolean isInstalled() throws InterruptedException {
        try {
            return Processes.start(Path.of("/dev/null"), List.of(label, "--help")).waitFor() >= 0;
        } catch (BenchException _) {
            return false;
        }
    }

    static Outcome fail(String output) throws BenchException {
        throw new BenchException("no figures in: " + output.strip());
    }

    @Override
    public String toString() { return label; }
}
