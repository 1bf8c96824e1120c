package lunar.osd.store.directory;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.LogManager;
import java.util.stream.Collectors;

/**
 * Many simulations of stores, on as many threads as there are processors, each with a seed of its own: {@code
 * scripts/simulate osd}. Ends with the number of events, and status 1 if one has failed; its seed plays it again.
 */
final class StoreSimulations {
    private static final int MAX_FAILURES = 10;
    private static final long PROGRESS_SECONDS = 10;

    /** A simulation that has found something. */
    record Failure(long seed, Throwable cause) {}

    private final Path folder;
    private final long first;
    private final long count;
    private final AtomicLong begun = new AtomicLong();
    private final AtomicLong ended = new AtomicLong();
    /** Guarded by this, as the next one. */
    private final Map<String, Integer> events = new TreeMap<>();
    private final List<Failure> failures = new ArrayList<>();

    /** @param folder where the stores are, which are deleted unless a simulation fails */
    StoreSimulations(Path folder, long first, long count) {
        this.folder = folder;
        this.first = first;
        this.count = count;
    }

    synchronized List<Failure> failures() { return List.copyOf(failures); }

    synchronized Map<String, Integer> events() { return Map.copyOf(events); }

    /** Plays until all are played, or too many have failed. For any number of threads at once. */
    void play() {
        for (long i = begun.getAndIncrement(); i < count
                && failures().size() < MAX_FAILURES; i = begun.getAndIncrement()) {
            play(first + i);
            ended.incrementAndGet();
        }
    }

    private void play(long seed) {
        Throwable failure = null;
        try {
            Path own = Files.createDirectory(folder.resolve(Long.toString(seed)));
            var simulation = new StoreSimulation(seed, own);
            simulation.run();
            Files.delete(own);
            synchronized (this) {
                simulation.events().forEach((name, times) -> events.merge(name, times,
                        Integer::sum));
            }
        } catch (IOException | RuntimeException | Error e) { // whatever it is: it is a finding
            failure = e;
        }
        if (failure != null) {
            synchronized (this) {
                failures.add(new Failure(seed, failure));
            }
        }
    }

    // --- the command ---

    private String progress(long start) {
        double seconds = (System.nanoTime() - start) / (double) TimeUnit.SECONDS.toNanos(1);
        long done = ended.get();
        List<Failure> failed = failures();
        return "%,d of %,d, %,.1f per second, %,.0f s left, %d failed%s".formatted(done, count,
                done / seconds, (count - done) * seconds / Math.max(1, done), failed.size(),
                failed.stream().map(each -> ", seed " + each.seed).collect(Collectors.joining()));
    }

    private boolean run(PrintStream out) throws InterruptedException {
        out.printf("object stores: %,d simulations from seed %d in %s%n", count, first, folder);
        long start = System.nanoTime();
        var threads = new ArrayList<Thread>();
        for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
            threads.add(Thread.ofPlatform().start(this::play));
        }
        for (Thread each : threads) {
            while (!each.join(Duration.ofSeconds(PROGRESS_SECONDS))) {
                out.println(progress(start));
            }
        }
        out.println(progress(start) + "\n" + events());
        for (Failure each : failures()) {
            out.println("seed " + each.seed + ":");
            each.cause.printStackTrace(out);
        }
        return failures().isEmpty();
    }

    /** Settings are the properties {@code lunar.seed} and {@code lunar.simulations}. */
    public static void main(String[] args) throws IOException, InterruptedException {
        LogManager.getLogManager().reset(); // stores log each fault that a simulation injects
        String seed = System.getProperty("lunar.seed", "");
        Path memory = Path.of("/dev/shm"); // where fsync costs nothing
        Path folder = Files.isWritable(memory)
                ? Files.createTempDirectory(memory, "lunar-simulate")
                : Files.createTempDirectory("lunar-simulate");
        var all = new StoreSimulations(folder, seed.isEmpty()
                ? new Random().nextInt(1_000_000_000)
                : Long.parseLong(seed), Long.getLong("lunar.simulations", 20_000));
        if (!all.run(System.out)) {
            System.exit(1);
        }
        Files.delete(folder);
    }
}
