package lunar.store;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Syncs that fail as Linux reports a failed writeback: once, and not again. */
final class FaultySync implements FileOpening.SyncOpener {
    /** Failure of the next sync. */
    volatile @Nullable IOException next;
    /** Syncs that succeed before. */
    private int passes;
    /** Latch that a sync awaits before it fails or succeeds. */
    volatile @Nullable CountDownLatch gate;
    final CountDownLatch entered = new CountDownLatch(1);
    final AtomicInteger syncs = new AtomicInteger();

    void failOnce() { failAfter(0); }

    /** Fails one sync, once as many have succeeded. */
    synchronized void failAfter(int successes) {
        passes = successes;
        next = new IOException("Input/output error");
    }

    @Override
    public DataSync open(Path path) throws IOException {
        DataSync real = DataSync.of(path);
        return new DataSync() {
            @Override
            public void sync() throws IOException {
                syncs.incrementAndGet();
                IOException failure;
                synchronized (FaultySync.this) { // of several, one is told
                    failure = passes > 0 ? null : next;
                    next = failure == null ? next : null;
                    passes = Math.max(0, passes - 1);
                }
                CountDownLatch closed = gate;
                if (closed != null && failure != null) {
                    entered.countDown();
                    try {
                        closed.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                }
                if (failure != null) {
                    throw failure;
                }
                real.sync();
            }

            @Override
            public void close() throws IOException { real.close(); }
        };
    }
}
