package lunar.osd.s3.http;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Threads of requests: one for each, of a bounded number. They close connections whose client is too slow, which
 * jdk.httpserver can do for whole requests alone, however long.
 */
public final class RequestThreads implements Executor, AutoCloseable {
    private static final ScopedValue<ClientWait> CURRENT = ScopedValue.newInstance();
    private static final long KEEP_ALIVE_SECONDS = 30;
    private static final long TICK_MS = 500;

    private final ThreadPoolExecutor pool;
    private final ScheduledExecutorService ticks;
    private final Set<ClientWait> waits = ConcurrentHashMap.newKeySet();
    private final long timeoutNs;

    /**
     * @param max most threads
     * @param clientTimeout how long a thread waits for its client
     */
    public RequestThreads(int max, Duration clientTimeout) {
        timeoutNs = clientTimeout.toNanos();
        pool = new ThreadPoolExecutor(0, max, KEEP_ALIVE_SECONDS, TimeUnit.SECONDS,
                new SynchronousQueue<>(), Thread.ofPlatform().daemon().name("s3-", 0).factory());
        ticks = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().daemon().name("s3-timeouts").factory());
        var _ = ticks.scheduleWithFixedDelay(this::expire, TICK_MS, TICK_MS,
                TimeUnit.MILLISECONDS);
    }

    private void expire() {
        long now = System.nanoTime();
        waits.forEach(each -> each.expire(now));
    }

    /** Runs a request, which begins with a wait for its head. */
    @Override
    public void execute(Runnable request) {
        pool.execute(() -> {
            var wait = new ClientWait(Thread.currentThread());
            waits.add(wait);
            wait.begin(timeoutNs);
            try {
                ScopedValue.where(CURRENT, wait).run(request);
            } finally {
                wait.end();
                waits.remove(wait);
            }
        });
    }

    /** Begins to wait for the client of the request of this thread. */
    void beginWait() {
        CURRENT.get().begin(timeoutNs);
    }

    /** Ends the wait of this thread. */
    void endWait() { CURRENT.get().end(); }

    /** Interrupts all requests. */
    @Override
    public void close() {
        ticks.shutdownNow();
        pool.shutdownNow();
    }
}
