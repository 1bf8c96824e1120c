package lunar.bench.load;

import lunar.bench.harness.BenchException;
import lunar.bench.harness.Cores;
import lunar.bench.harness.CpuSampler;
import lunar.bench.harness.JavaCommand;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import tools.jackson.databind.json.JsonMapper;

/** Client of a {@link LoadAgent} process. */
public final class AgentClient implements Client {
    private static final int GRACE_SECONDS = 90;

    private final JsonMapper json = new JsonMapper();
    private final String kind;
    private final Process process;
    private final PrintStream orders;
    private final BufferedReader results;

    /** @param log for what goes wrong in it */
    public AgentClient(String kind, Path log) throws BenchException {
        this.kind = kind;
        try {
            process = new ProcessBuilder(JavaCommand.of(LoadAgent.class, kind))
                    .redirectError(log.toFile()).start();
        } catch (IOException e) {
            throw new BenchException("a client does not start: " + e.getMessage(), e);
        }
        orders = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
        results = process.inputReader(StandardCharsets.UTF_8);
    }

    @Override
    public Counted run(LoadOrder order, long serverPid, Optional<String> core)
            throws BenchException, InterruptedException {
        if (core.isPresent()) {
            Cores.bind(process.pid(), core.get());
        }
        try {
            var sampler = new CpuSampler(serverPid, process.pid());
            LoadResult result;
            try (sampler) {
                orders.println(json.writeValueAsString(order));
                result = result(order.rampMs() + order.countMs());
            }
            if (!result.error().isEmpty()) {
                throw new BenchException("at " + order.uri() + ", " + order.work().name() + ": "
                        + result.error());
            }
            return new Counted(new Outcome(result.operations() / result.seconds(), result.p50Us(),
                    result.p99Us(), result.p999Us(), result.slowestOfMean()),
                    sampler.between(result.fromNs(), result.toNs()));
        } finally {
            if (core.isPresent()) {
                Cores.bind(process.pid(), Cores.ALL);
            }
        }
    }

    private LoadResult result(int ms) throws BenchException, InterruptedException {
        var line = CompletableFuture.supplyAsync(() -> {
            try {
                return Optional.ofNullable(results.readLine());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        try {
            String text = line.get(ms + TimeUnit.SECONDS.toMillis(GRACE_SECONDS),
                    TimeUnit.MILLISECONDS)
                    .orElseThrow(() -> new BenchException("the client has ended, see " + kind
                            + "-client.log"));
            return json.readValue(text, LoadResult.class);
        } catch (ExecutionException | TimeoutException e) {
            throw new BenchException("the client does not answer, see " + kind + "-client.log", e);
        }
    }

    @Override
    public void close() { process.destroyForcibly(); }
}
