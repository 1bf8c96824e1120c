package lunar.bench.load;

import lunar.bench.harness.BenchException;
import lunar.bench.harness.Pair;
import lunar.bench.harness.Processes;
import lunar.bench.harness.Work;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** libiscsi's {@code iscsi-perf}. Only reads, counts from its start, and reports no latencies. */
public final class IscsiPerf extends CommandClient {
    public static final String PROGRAM = "iscsi-perf";

    private static final Pattern AVERAGE = Pattern.compile("iops average (\\d+) \\(");
    private static final int BLOCK_BYTES = 512;

    public IscsiPerf(Path log) { super(log); }

    /** Whether there is such a program. */
    public static boolean isInstalled() throws InterruptedException {
        try {
            return Processes.start(Path.of("/dev/null"), List.of(PROGRAM, "--help")).waitFor() >= 0;
        } catch (BenchException _) {
            return false;
        }
    }

    @Override
    public List<String> command(LoadOrder order) throws BenchException {
        Work work = order.work();
        if (work.writes() || order.sessions() != 1 || order.terms() != Pair.Terms.USUAL) {
            throw new BenchException(PROGRAM + " only reads, by one session, without digests");
        }
        var command = new ArrayList<>(List.of(PROGRAM, "-m", "" + work.depth(), "-b",
                "" + work.requestBytes() / BLOCK_BYTES, "-t", "" + order.countMs() / 1000));
        if (work.random()) {
            command.add("-r");
        }
        command.add(order.uri());
        return command;
    }

    @Override
    public Outcome parse(String output) throws BenchException {
        List<MatchResult> averages = AVERAGE.matcher(output).results().toList();
        return averages.isEmpty()
                ? fail(output)
                : Outcome.of(Double.parseDouble(averages.getLast().group(1)));
    }

    @Override
    int rampSeconds() { return 0; }
}
