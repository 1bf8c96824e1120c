package lunar.bench.session;

import lunar.bench.harness.Arguments;
import lunar.bench.harness.BackingFile;
import lunar.bench.harness.Bench;
import lunar.bench.harness.BenchException;
import lunar.bench.harness.CpuMeter;
import lunar.bench.harness.InParallel;
import lunar.bench.harness.Server;
import lunar.bench.harness.Spread;
import lunar.bench.harness.TextTable;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.bench.harness.Server.TgtdLun;
import lunar.initiator.Initiator;
import lunar.initiator.InitiatorOptions;
import lunar.initiator.IscsiUri;
import lunar.initiator.SessionOptions;

/**
 * Measures logins and logouts per second: of Lunar's target, of tgtd and optionally of another build of Lunar. Several
 * threads of this process log in with Lunar's initiator and log out immediately without opening a LUN, at one server
 * after another in each round. Each server serves the same file. The first rounds warm up and are not counted.
 */
public final class LoginBench {
    private static final long DEVICE_BYTES = 64L << 20;
    private static final String TGTD = "tgtd";
    private static final int WARM_UP_ROUNDS = 6;

    /** Result of a server in one round: sessions per second, and milliseconds of its CPU time for each session. */
    private record Round(double perSecond, double cpuMs) {}

    private final Arguments given;
    private final Path directory;
    private final Map<String, Server> servers = new LinkedHashMap<>();
    private final Map<String, List<Round>> rounds = new LinkedHashMap<>();

    private LoginBench(Arguments given) {
        this.given = given;
        directory = given.path("dir");
    }

    /** Prints a table. See {@code scripts/bench}. */
    public static void main(String[] args) throws InterruptedException {
        Bench.main("logins", args, (all, out) -> {
            var given = Arguments.parse(Map.of("rounds", "7", "seconds", "2", "threads", "4",
                    "before", "", "before-name", "before", "lunar", "./lunar", "dir",
                    "lunar-bench/target/bench", "commit", "unknown"), all);
            if (given.number("rounds") < 1 || given.number("seconds") < 1
                    || given.number("threads") < 1
                    || given.number("threads") > InParallel.THREADS) {
                throw new BenchException("rounds and seconds must be greater than 0, threads 1 to "
                        + InParallel.THREADS);
            }
            new LoginBench(given).run(out);
        });
    }

    private void run(PrintStream out) throws BenchException, IOException, InterruptedException {
        Files.createDirectories(directory);
        try (var initiator = Initiator
                .create(InitiatorOptions.of("iqn.2026-11.org.lunar:logins"))) {
            start();
            int count = given.number("rounds");
            for (int i = 1 - WARM_UP_ROUNDS; i <= count; i++) {
                for (var server : servers.entrySet()) {
                    Round round = measure(initiator, server.getKey(), server.getValue());
                    if (i > 0) {
                        rounds.computeIfAbsent(server.getKey(), _ -> new ArrayList<>())
                                .add(round);
                    }
                }
                out.println(i > 0 ? "round " + i + " of " + count : "warming up");
            }
        } finally {
            servers.values().forEach(Server::close);
        }
        out.println();
        out.println(table().plain());
    }

    private void start() throws BenchException, InterruptedException {
        servers.put("Lunar, " + given.text("commit"),
                lunar(given.path("lunar"), "logins-lunar"));
        if (!given.text("before").isEmpty()) {
            servers.put("Lunar, " + given.text("before-name"),
                    lunar(given.path("before"), "logins-before"));
        }
        Path file = BackingFile.prepare(directory.resolve("logins.img"), DEVICE_BYTES, 1);
        servers.put(TGTD, Server.tgtd(directory, List.of(new TgtdLun(file, "")), Map.of()));
    }

    private Server lunar(Path command, String name) throws BenchException, InterruptedException {
        Path file = BackingFile.prepare(directory.resolve(name + ".img"), DEVICE_BYTES, 1);
        return Server.lunar(command, directory.resolve(name + ".log"), List.of(),
                List.of("file:" + file));
    }

    private Round measure(Initiator initiator, String name, Server server)
            throws BenchException, InterruptedException {
        SessionOptions login = IscsiUri.parse(server.uri(name.equals(TGTD) ? 1 : 0))
                .sessionOptions();
        var sessions = new AtomicInteger();
        var cpu = new CpuMeter(List.of(server.pid()));
        cpu.mark();
        long startNs = System.nanoTime();
        long endNs = startNs + given.number("seconds") * 1_000_000_000L;
        List<Boolean> _ = InParallel.run(given.number("threads"), _ -> {
            while (System.nanoTime() < endNs) {
                initiator.login(login).close();
                sessions.incrementAndGet();
            }
            return true;
        });
        double seconds = (System.nanoTime() - startNs) / 1e9;
        cpu.mark();
        return new Round(sessions.get() / seconds,
                cpu.cores() * seconds * 1000 / sessions.get());
    }

    private TextTable table() {
        var table = new TextTable("target", "logins and logouts/s", "to the first",
                "server ms each");
        List<Round> first = rounds.values().iterator().next();
        rounds.forEach((name, own) -> {
            var ratios = new ArrayList<Double>();
            for (int i = 0; i < own.size(); i++) { // of the same round: the machine's noise is in both
                ratios.add(own.get(i).perSecond / first.get(i).perSecond);
            }
            table.row(name, Spread.of(own.stream().map(Round::perSecond).toList()).text(0),
                    String.format(Locale.ROOT, "%.2f", Spread.of(ratios).median()),
                    Spread.of(own.stream().map(Round::cpuMs).toList()).text(2));
        });
        return table;
    }
}
