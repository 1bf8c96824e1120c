package lunar.bench.start;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import lunar.bench.harness.Arguments;
import lunar.bench.harness.Bench;
import lunar.bench.harness.BenchException;
import lunar.bench.harness.Machine;
import lunar.bench.harness.Results;
import lunar.bench.harness.Spread;
import lunar.bench.harness.TextTable;
import lunar.initiator.Initiator;

/**
 * Measures the time from the start of a {@code lunar serve} process to the first login that it accepts, and the
 * resident memory of the process when it has been idle for some seconds: of the image and of the checkout, in turns.
 * Each round starts each of them once, every other round in the opposite order. The first round warms up the client and
 * the page cache and is not counted.
 */
public final class StartBench {
    private static final String IMAGE = "image";
    private static final String CHECKOUT = "checkout";
    private static final int MAX_ROUNDS = 100;
    private static final int MAX_IDLE_SECONDS = 60;
    private static final double MOST_LOGIN_MS = 300;
    private static final double MOST_RESIDENT_MB = 120;
    private static final double MB = 1e6;

    private final Arguments given;
    private final Path directory;
    private final Map<String, Path> commands = new LinkedHashMap<>();
    private final Map<String, List<Double>> loginMs = new LinkedHashMap<>();
    private final Map<String, List<Double>> residentMb = new LinkedHashMap<>();

    private StartBench(Arguments given) {
        this.given = given;
        directory = given.path("dir");
    }

    /** Prints a table and writes START.json. See {@code scripts/bench}. */
    public static void main(String[] args) throws InterruptedException {
        Bench.main("start", args, (all, out) -> {
            var given = Arguments.parse(Map.of("rounds", "7", "idle-seconds", "40", "image",
                    "build/image/bin/lunar", "lunar", "./lunar", "dir",
                    "lunar-bench/target/bench", "commit", "unknown"), all);
            requireWithin(given, "rounds", MAX_ROUNDS);
            requireWithin(given, "idle-seconds", MAX_IDLE_SECONDS);
            new StartBench(given).run(out);
        });
    }

    private static void requireWithin(Arguments given, String name, int most)
            throws BenchException {
        if (given.number(name) < 1 || given.number(name) > most) {
            throw new BenchException(name + " must be 1 to " + most);
        }
    }

    private void run(PrintStream out) throws BenchException, IOException, InterruptedException {
        Files.createDirectories(directory);
        if (Files.isExecutable(given.path(IMAGE))) {
            commands.put(IMAGE, given.path(IMAGE));
        } else {
            out.println("no image at " + given.path(IMAGE) + "; make one with: make image");
        }
        commands.put(CHECKOUT, given.path("lunar"));
        try (var initiator = Initiator.create("iqn.2026-11.org.lunar:start")) {
            for (int round = 0; round <= given.number("rounds"); round++) {
                measure(initiator, round);
                out.println(round == 0 ? "warmed up" : "round " + round + " done");
            }
        } finally {
            StartedServer.removeFiles(directory);
        }
        var tree = new LinkedHashMap<String, Object>();
        tree.put("machine", Machine.describe(directory, given.text("commit")));
        tree.put("loginMs", loginMs);
        tree.put("residentMb", residentMb);
        Files.writeString(directory.resolve("START.json"), Results.json(tree));
        out.println("\n" + table(loginMs, residentMb).plain());
    }

    private void measure(Initiator initiator, int round)
            throws BenchException, InterruptedException {
        var order = new ArrayList<>(commands.keySet());
        if (round % 2 == 1) {
            Collections.reverse(order);
        }
        for (String name : order) {
            try (var server = StartedServer.start(Objects.requireNonNull(commands.get(name)),
                    directory, initiator)) {
                if (round > 0) {
                    TimeUnit.SECONDS.sleep(given.number("idle-seconds"));
                    add(loginMs, name, server.loginMs());
                    add(residentMb, name, server.residentBytes() / MB);
                }
            }
        }
    }

    private static void add(Map<String, List<Double>> figures, String name, double value) {
        figures.computeIfAbsent(name, _ -> new ArrayList<>()).add(value);
    }

    /** Returns medians and ranges of both, and whether the image reaches the goals. */
    static TextTable table(Map<String, List<Double>> loginMs,
            Map<String, List<Double>> residentMb) {
        var table = new TextTable("lunar serve", "figure", "median (min to max)", "goal",
                "reached");
        loginMs.forEach((name, values) -> row(table, name, "start to login, ms", values,
                MOST_LOGIN_MS));
        residentMb.forEach((name, values) -> row(table, name, "resident when idle, MB", values,
                MOST_RESIDENT_MB));
        return table;
    }

    private static void row(TextTable table, String name, String figure, List<Double> values,
            double most) {
        Spread spread = Spread.of(values);
        boolean hasGoal = name.equals(IMAGE);
        table.row(name, figure, spread.text(0),
                hasGoal ? String.format(Locale.ROOT, "at most %.0f", most) : "",
                hasGoal ? spread.median() <= most ? "yes" : "no" : "");
    }
}
