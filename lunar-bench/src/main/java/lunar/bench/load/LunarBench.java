package lunar.bench.load;

import lunar.bench.harness.BenchException;
import lunar.bench.harness.Pair;
import lunar.bench.harness.Work;

import java.nio.file.Path;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code lunar bench} of a commit, which warms up for some seconds before it measures. */
public final class LunarBench extends CommandClient {
    private static final int RAMP_SECONDS = 2;

    private final Path lunar;

    /** @param lunar the {@code lunar} command */
    public LunarBench(Path lunar, Path log) {
        super(log);
        this.lunar = lunar;
    }

    @Override
    List<String> command(LoadOrder order) throws BenchException {
        Work work = order.work();
        if (order.sessions() != 1 || order.terms() != Pair.Terms.USUAL) {
            throw new BenchException("lunar bench is run with one session");
        }
        String pattern = switch (work.operation()) {
            case READ -> work.random() ? "randread" : "read";
            case WRITE -> work.random() ? "randwrite" : "write";
            case MIXED -> "randrw";
            case NO_DATA -> throw new BenchException("lunar bench moves data");
        };
        return List.of(lunar.toString(), "bench", order.uri(), "--rw", pattern, "--bs",
                "" + work.requestBytes(), "--qd", "" + work.depth(), "--rwmixread", "50", "--ramp",
                RAMP_SECONDS + "s", "--time", order.countMs() + "ms", "--force", "--json");
    }

    @Override
    public Outcome parse(String output) throws BenchException {
        int start = output.indexOf('{');
        if (start < 0) {
            return fail(output);
        }
        JsonNode total = new JsonMapper().readTree(output.substring(start)).path("total");
        JsonNode latency = total.path("latencyMicroseconds");
        return new Outcome(total.path("iops").asDouble(), latency.path("p50").asDouble(),
                latency.path("p99").asDouble(), latency.path("p99.9").asDouble(), 1);
    }

    @Override
    int rampSeconds() { return RAMP_SECONDS; }
}
