package lunar.bench.harness;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

/** A fixed group of threads that is started in advance, runs jobs simultaneously, and waits for all of them. */
public final class WorkerThreads implements AutoCloseable {
    private final int size;
    private final ExecutorService threads;

    public WorkerThreads(int size) {
        this.size = size;
        threads = Executors.newFixedThreadPool(size);
    }

    /** Work of one of the threads. */
    @FunctionalInterface
    public interface Job {
        void run() throws BenchException;
    }

    /**
     * Runs each job on a thread of its own.
     *
     * @return nanoseconds from when the last thread was ready to when the last job had ended
     */
    public long run(List<Job> jobs) throws BenchException, InterruptedException {
        if (jobs.size() > size) {
            throw new IllegalArgumentException(jobs.size() + " jobs for " + size + " threads");
        }
        var startNs = new AtomicLong();
        var ready = new CyclicBarrier(jobs.size(), () -> startNs.set(System.nanoTime()));
        var ends = new ArrayList<Callable<Long>>();
        for (Job job : jobs) {
            ends.add(() -> {
                int _ = ready.await();
                job.run();
                return System.nanoTime();
            });
        }
        long lastNs = Long.MIN_VALUE;
        for (Future<Long> end : threads.invokeAll(ends)) {
            try {
                lastNs = Math.max(lastNs, end.get() - startNs.get());
            } catch (ExecutionException e) {
                throw e.getCause() instanceof BenchException why
                        ? why
                        : new BenchException("a thread failed: " + e.getCause(), e);
            }
        }
        return lastNs;
    }

    @Override
    public void close() { threads.close(); }
}
