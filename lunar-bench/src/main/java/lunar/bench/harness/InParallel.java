package lunar.bench.harness;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Runs many independent steps, such as logins, on up to {@link #THREADS} threads. */
public final class InParallel {
    /** Maximum number of concurrent steps. */
    public static final int THREADS = 16;

    private InParallel() {}

    /** A step, called on a thread of the pool. */
    @FunctionalInterface
    public interface Step<T> {
        T run(int number) throws IOException;
    }

    /**
     * Runs steps 0 to {@code count - 1}; returns their results, in this order, when all have ended.
     *
     * @throws BenchException with the failure of the first step that failed
     */
    public static <T> List<T> run(int count, Step<? extends T> step)
            throws BenchException, InterruptedException {
        try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
            var steps = new ArrayList<Callable<T>>();
            for (int i = 0; i < count; i++) {
                int number = i;
                steps.add(() -> step.run(number));
            }
            var results = new ArrayList<T>();
            for (var result : threads.invokeAll(steps)) {
                results.add(result.get());
            }
            return results;
        } catch (ExecutionException e) {
            throw new BenchException("a step failed: " + e.getCause(), e);
        }
    }
}
