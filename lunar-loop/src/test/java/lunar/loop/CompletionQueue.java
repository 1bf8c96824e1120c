package lunar.loop;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** An event source like the completion queue of an RDMA adapter: any thread posts, and a completion is run. */
final class CompletionQueue implements EventSource {
    private static final Runnable WAKEUP = () -> {};

    final LinkedBlockingQueue<Runnable> completions = new LinkedBlockingQueue<>();
    final CompletableFuture<Thread> closed = new CompletableFuture<>();
    /** Limits of the waits so far, in milliseconds. */
    final List<Long> limits = new CopyOnWriteArrayList<>();
    volatile boolean isBroken;

    @Override
    public boolean poll() throws IOException {
        if (isBroken) {
            isBroken = false;
            throw new IOException("the adapter is busy");
        }
        boolean any = false;
        Runnable next;
        while ((next = completions.poll()) != null) {
            next.run();
            any = true;
        }
        return any;
    }

    @Override
    public void await(long limitMs) throws IOException {
        limits.add(limitMs);
        try {
            Runnable first = limitMs == 0
                    ? completions.take()
                    : completions.poll(limitMs, TimeUnit.MILLISECONDS);
            if (first != null) {
                first.run();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        boolean _ = poll();
    }

    @Override
    public void wakeup() { boolean _ = completions.add(WAKEUP); }

    @Override
    public int size() { return 1; }

    @Override
    public void close() { boolean _ = closed.complete(Thread.currentThread()); }
}
