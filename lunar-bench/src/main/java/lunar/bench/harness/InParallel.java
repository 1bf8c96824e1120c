package lunar.bench.harness;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Runs many steps, several at a time, such as logins and logouts. */
public final class InParallel {
    /** Steps at a time. */
    public static final int THREADS = 16;

    private InParallel() {}

    /** Runs one of many steps. */
    @FunctionalInterface
    public interface Step<T> {
        T run(int number) throws IOException;
    }

    /** Runs steps 0 to {@code count - 1} and returns their results. */
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
            throw new BenchException("a session failed: " + e.getCause(), e);
        }
    }
}
