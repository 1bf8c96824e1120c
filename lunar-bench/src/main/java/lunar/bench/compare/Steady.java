package lunar.bench.compare;

import lunar.bench.harness.Arguments;
import lunar.bench.harness.BackingFile;
import lunar.bench.harness.Bench;
import lunar.bench.harness.BenchException;
import lunar.bench.harness.Pair;
import lunar.bench.harness.Processes;
import lunar.bench.harness.Server;
import lunar.bench.harness.Settings;
import lunar.bench.harness.Work;
import lunar.bench.load.AgentClient;
import lunar.bench.load.Client;
import lunar.bench.load.LoadOrder;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import lunar.bench.harness.Work.Operation;

/**
 * Measures the steady state: bytes that {@code lunar serve} allocates per command, and pauses of its JVM, while several
 * sessions read and write at full speed.
 */
public final class Steady {
    private static final int SESSIONS = 4;
    /** Logins, compilation, and what is allocated once for each session. */
    private static final int RAMP_SECONDS = 10;
    private static final Work WORK = new Work("4 KiB random reads and writes, depth 32",
            Operation.MIXED, 4096, true, 32, false);

    private Steady() {}

    /** Measures memory, then a file: {@code --seconds=60}. */
    public static void main(String[] args) throws InterruptedException {
        Bench.main("steady", args, (given, out) -> {
            var own = Map.of("seconds", "60");
            var arguments = Arguments.parse(own, Arguments.select(own.keySet(), true, given));
            var settings = Settings.parse(Arguments.select(own.keySet(), false, given));
            for (SteadyResult one : run(settings, arguments.number("seconds"), out)) {
                out.println(one);
            }
        });
    }

    static List<SteadyResult> run(Settings settings, int seconds, PrintStream out)
            throws BenchException, IOException, InterruptedException {
        Files.createDirectories(settings.directory());
        var results = new ArrayList<SteadyResult>();
        for (String device : List.of("ram:" + BackingFile.BYTES,
                "file:" + BackingFile.prepare(settings.directory(), settings.seed()))) {
            out.println("steady state, " + seconds + " s: " + kind(device));
            results.add(measure(settings, device, seconds));
        }
        return results;
    }

    private static String kind(String device) {
        return device.startsWith("ram:") ? "Lunar, memory" : "Lunar, file";
    }

    private static SteadyResult measure(Settings settings, String device, int seconds)
            throws BenchException, IOException, InterruptedException {
        Path jvm = settings.directory().resolve("steady-jvm.log");
        Files.deleteIfExists(jvm);
        try (var server = Server.lunar(settings.lunar(), settings.directory().resolve("steady.log"),
                List.of(JvmLog.OPTION.formatted(jvm), AllocationProbe.OPTION), List.of(device));
                var client = new AgentClient("lunar",
                        settings.directory().resolve("lunar-client.log"));
                var probe = new AllocationProbe(server.pid())) {
            long _ = probe.bytes(); // once, so that asking is not seen later
            var order = new LoadOrder(server.uri(0), BackingFile.BYTES, WORK, SESSIONS,
                    Pair.Terms.USUAL, RAMP_SECONDS * 1000, (seconds + 1) * 1000);
            var running = CompletableFuture.supplyAsync(() -> load(client, order, server.pid()));
            TimeUnit.SECONDS.sleep(RAMP_SECONDS);
            long fromNs = System.nanoTime();
            long bytes = probe.bytes();
            TimeUnit.SECONDS.sleep(seconds);
            bytes = probe.bytes() - bytes;
            long toNs = System.nanoTime();
            double iops = iops(running);
            return new SteadyResult(kind(device), SESSIONS, iops,
                    bytes / (iops * (toNs - fromNs) / 1e9),
                    JvmLog.parse(Processes.read(jvm), fromNs, toNs));
        }
    }

    private static double iops(CompletableFuture<Double> running)
            throws BenchException, InterruptedException {
        try {
            return running.get();
        } catch (ExecutionException e) {
            throw new BenchException("the load failed: " + e.getCause(), e);
        }
    }

    private static double load(Client client, LoadOrder order, long serverPid) {
        try {
            return client.run(order, serverPid, Optional.empty()).outcome().iops();
        } catch (BenchException | InterruptedException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }
}
