package lunar.raid.simulation;

import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

/**
 * Many simulations, on as many threads as there are processors, each with a seed of its own: {@code scripts/simulate}.
 * Ends with what has happened, and status 1 where one has failed; its seed plays it again.
 */
final class Simulations {
    private static final int MAX_FAILURES = 10;
    /** The share of volumes that grow: one in so many. */
    private static final int GROWING = 4;
    /** The share of volumes that lose more than their level survives: one in so many. */
    private static final int BEYOND = 5;
    private static final long PROGRESS_SECONDS = 10;

    /** A simulation that found something. */
    record Failure(long seed, Throwable cause) {}

    private final long first;
    private final long count;
    private final AtomicLong begun = new AtomicLong();
    private final AtomicLong ended = new AtomicLong();
    /** Guarded by this, as the next one. */
    private final EventCounts tally = new EventCounts();
    private final List<Failure> failures = new ArrayList<>();

    /** Simulations of the seeds from the first on. */
    Simulations(long first, long count) {
        this.first = first;
        this.count = count;
    }

    synchronized List<Failure> failures() { return List.copyOf(failures); }

    synchronized EventCounts tally() { return tally; }

    /** Plays until all are played, or too many have failed. For any number of threads at once. */
    void play() {
        var own = new EventCounts();
        for (long i = begun.getAndIncrement(); i < count && !isEnough(); i = begun
                .getAndIncrement()) {
            play(first + i, own);
            ended.incrementAndGet();
        }
        synchronized (this) {
            tally.add(own);
        }
    }

    private synchronized boolean isEnough() { return failures.size() >= MAX_FAILURES; }

    private void play(long seed, EventCounts own) {
        try {
            Simulation simulation = simulation(seed);
            simulation.run();
            own.add(simulation.tally());
        } catch (RuntimeException | Error e) { // whatever it is: it is a finding
            synchronized (this) {
                failures.add(new Failure(seed, e));
            }
        }
    }

    private static Simulation simulation(long seed) {
        if (seed % GROWING == 0) {
            return Simulation.growing(seed);
        }
        return seed % BEYOND == 0 ? Simulation.beyondPromise(seed) : Simulation.of(seed);
    }

    // --- the command ---

    private String progress() {
        List<Failure> failures = failures();
        return "%,d of %,d, %d failed".formatted(ended.get(), count, failures.size())
                + (failures.isEmpty()
                        ? ""
                        : ", seeds " + failures.stream()
                                .map(failure -> Long.toString(failure.seed))
                                .collect(Collectors.joining(", ")));
    }

    private void playAll(int threads, PrintStream out) throws InterruptedException {
        var crew = new ArrayList<Thread>();
        for (int i = 0; i < threads; i++) {
            crew.add(Thread.ofPlatform().name("simulation-" + i).start(this::play));
        }
        for (Thread thread : crew) {
            while (!thread.join(Duration.ofSeconds(PROGRESS_SECONDS))) {
                out.println("simulate: " + progress());
            }
        }
    }

    private void report(long seconds, PrintStream out) {
        out.println("simulate: " + progress() + ", in " + seconds + " s");
        tally().all().forEach((event, times) -> out.printf("  %-24s %,15d%n", event, times));
        for (Failure failure : failures()) {
            out.println("simulate: FAILED " + failure.cause.getMessage());
            failure.cause.printStackTrace(out);
            out.println("simulate: again with  make simulate N=1 SEED=" + failure.seed);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        String given = System.getProperty("lunar.seed", "");
        long seed = given.isEmpty()
                ? new Random().nextInt(1, Integer.MAX_VALUE)
                : Long.parseLong(given);
        int threads = Runtime.getRuntime().availableProcessors();
        var simulations = new Simulations(seed, Long.getLong("lunar.simulations", 100_000));
        PrintStream out = System.out;
        out.printf("simulate: %,d volumes, seeds from %d on, %d threads%n", simulations.count,
                seed, threads);
        long start = System.nanoTime();
        simulations.playAll(threads, out);
        simulations.report(TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start), out);
        if (!simulations.failures().isEmpty()) {
            System.exit(1);
        }
    }
}
