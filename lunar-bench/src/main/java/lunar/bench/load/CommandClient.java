package lunar.bench.load;

import lunar.bench.harness.BenchException;
import lunar.bench.harness.CpuSampler;
import lunar.bench.harness.Processes;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A client program that is started for each measurement, runs for some seconds, prints a result and ends. */
abstract class CommandClient implements Client {
    private static final int GRACE_SECONDS = 60;
    /** At both ends of a measurement such a client may still log in, or out already. */
    private static final double MARGIN_SECONDS = 0.3;

    private final Path log;

    CommandClient(Path log) { this.log = log; }

    /** @throws BenchException where the program cannot do that */
    abstract List<String> command(LoadOrder order) throws BenchException;

    abstract Outcome parse(String output) throws BenchException;

    /** Seconds that the program runs before it counts. */
    abstract int rampSeconds();

    @Override
    public Counted run(LoadOrder order, long serverPid, Optional<String> core)
            throws BenchException, InterruptedException {
        var command = new ArrayList<String>();
        core.ifPresent(one -> command.addAll(List.of("taskset", "-c", one)));
        command.addAll(command(order));
        Process process = Processes.start(log, command);
        var sampler = new CpuSampler(serverPid, process.pid());
        String output;
        try (sampler) {
            output = Processes.finish(process, log,
                    rampSeconds() + order.countMs() / 1000 + GRACE_SECONDS, command);
        }
        return new Counted(parse(output),
                sampler.window(order.countMs() / 1e3 - 2 * MARGIN_SECONDS, MARGIN_SECONDS));
    }

    static Outcome fail(String output) throws BenchException {
        throw new BenchException("no figures in: " + output.strip());
    }

    @Override
    public void close() {
        // It has no process that stays.
    }
}
