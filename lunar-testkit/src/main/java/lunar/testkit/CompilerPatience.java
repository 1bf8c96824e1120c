package lunar.testkit;

import java.util.concurrent.TimeUnit;

/**
 * Limits how often a measurement of allocations is repeated: at least 20 times, and for 5 minutes. The JIT compiler
 * removes the last allocations, and on a busy machine that takes time rather than runs; what each request really
 * allocates is in every run.
 */
public final class CompilerPatience {
    private static final int MIN_RUNS = 20;
    private static final long MIN_NANOS = TimeUnit.MINUTES.toNanos(5);

    private final long startNanos = System.nanoTime();
    private int runs;

    /** Starts the time. */
    public CompilerPatience() {}

    /** Whether there is to be another run, which it counts. */
    public boolean lasts() {
        return runs++ < MIN_RUNS || System.nanoTime() - startNanos < MIN_NANOS;
    }
}
