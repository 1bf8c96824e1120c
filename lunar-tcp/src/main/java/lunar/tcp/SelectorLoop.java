package lunar.tcp;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import lunar.iscsi.spi.EventLoop;
import org.jspecify.annotations.Nullable;

/**
 * A selector, and the connections, tasks and timers that belong to it, run by one thread at a time: its own, or a
 * guest, which handles what its one connection brings and leaves all else to the loop's own thread.
 */
final class SelectorLoop implements EventLoop {
    private static final System.Logger LOG = System.getLogger("lunar.tcp");

    /**
     * Bytes read at once. Larger data segments are then read straight to their destination; measured choice
     * of 16 requests of 4 KiB per read.
     */
    private static final int STAGING_BYTES = 64 * 1024 + 4096;

    /** The attachment of a selection key: called when its channel is ready. */
    @FunctionalInterface
    interface Ready {
        void run();
    }

    /** Tasks run before the connections get their turn, which tasks that call for more tasks must not starve. */
    private static final int MAX_TASKS_PER_TURN = 1024;

    private static final long LET_GO_MS = 2000;
    private static final long MAX_DELAY_MS = Long.MAX_VALUE / 4;

    /** A timer; cancelled ones stay in the queue until they are due, so they let go of what they would run. */
    private static final class Task implements Timer {
        private final long atMs;
        private final long number;
        private volatile @Nullable Runnable what;

        Task(Runnable what, long atMs, long number) {
            this.what = what;
            this.atMs = atMs;
            this.number = number;
        }

        @Override
        public void cancel() { what = null; }
    }

    private final Selector selector = Selector.open();
    private final TaskQueue tasks = new TaskQueue();
    private final PriorityQueue<Task> timers = new PriorityQueue<>(
            Comparator.<Task>comparingLong(task -> task.atMs)
                    .thenComparingLong(task -> task.number));
    private final AtomicLong timerNumber = new AtomicLong();
    private final AtomicBoolean waking = new AtomicBoolean();
    private final MemorySegment staging = Arena.ofAuto().allocate(STAGING_BYTES, 64);
    private final ByteBuffer stagingBuffer = staging.asByteBuffer();
    private final Consumer<SelectionKey> ready = SelectorLoop::ready;
    private final Thread thread;
    private final Leadership leadership;
    private @Nullable BooleanSupplier lend;
    private volatile boolean stopping;
    private volatile boolean ended;

    SelectorLoop(String name) throws IOException {
        thread = Thread.ofPlatform().name(name).daemon().unstarted(this::run);
        leadership = new Leadership(thread, () -> stopping || !tasks.isEmpty());
    }

    SelectorLoop start() {
        thread.start();
        return this;
    }

    Selector selector() { return selector; }

    /** Read buffer shared by the loop's connections; free between two turns of a connection. */
    MemorySegment staging() {
        return staging;
    }

    ByteBuffer stagingBuffer() { return stagingBuffer; }

    private void run() {
        leadership.begin();
        while (!stopping) {
            // Left behind by a task, it would make every select return at once.
            boolean _ = Thread.interrupted();
            try {
                runTasks(MAX_TASKS_PER_TURN);
                long waitMs = runTimers();
                lendIfAsked();
                waking.set(false);
                if (tasks.isEmpty() && !stopping) {
                    selector.select(ready, waitMs);
                } else {
                    selector.selectNow(ready);
                }
            } catch (IOException | RuntimeException | Error e) {
                // A connection catches its own errors; what comes here is ours, and must not end the other connections.
                LOG.log(System.Logger.Level.ERROR, "event loop " + thread.getName(), e);
            } finally {
                waking.set(true);
            }
        }
        closeAll();
    }

    private static void ready(SelectionKey key) {
        if (key.attachment() instanceof Ready ready) {
            ready.run();
        }
    }

    private void runTasks(int limit) {
        for (int i = 0; i < limit; i++) {
            Runnable task = tasks.poll();
            if (task == null) {
                return;
            }
            guard(task, "task");
        }
    }

    private void lendIfAsked() {
        BooleanSupplier nothingExpected = lend;
        lend = null;
        if (nothingExpected != null && tasks.isEmpty() && selector.keys().size() == 1) {
            leadership.lend(nothingExpected);
        }
    }

    @Override
    public void lend(BooleanSupplier nothingExpected) {
        if (!leadership.isGuests()) {
            lend = nothingExpected;
        }
    }

    @Override
    public boolean lead(BooleanSupplier until) {
        if (!leadership.take()) {
            leadership.needed();
            return until.getAsBoolean();
        }
        boolean interrupted = false;
        try {
            while (!until.getAsBoolean() && !leadership.isWanted()) {
                Task timer = timers.peek();
                long waitMs = timer == null ? Long.MAX_VALUE : timer.atMs - nowMs();
                if (waitMs <= 0) {
                    break;
                }
                waking.set(false);
                if (!leadership.isWanted()) {
                    selector.select(ready, timer == null ? 0 : waitMs);
                }
                waking.set(true);
                interrupted |= Thread.interrupted(); // which would make every select return at once
            }
        } catch (IOException | RuntimeException e) {
            LOG.log(System.Logger.Level.ERROR, "event loop " + thread.getName(), e);
        } finally {
            waking.set(true);
            leadership.leave();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        return until.getAsBoolean();
    }

    @Override
    public boolean isLent() { return leadership.isGuests(); }

    @Override
    public void attend() { leadership.needed(); }

    /** Runs the timers that are due. Returns milliseconds until the next, 0 for none (the selector's forever). */
    private long runTimers() {
        // Read once, so that timers which set timers for now do not keep the connections from their turn.
        long now = nowMs();
        Task timer;
        while ((timer = timers.peek()) != null) {
            Runnable what = timer.what;
            if (what != null && timer.atMs > now) {
                return Math.max(1, timer.atMs - nowMs());
            }
            timers.remove();
            if (what != null) {
                guard(what, "timer");
            }
        }
        return 0;
    }

    private void guard(Runnable what, String kind) {
        try {
            what.run();
        } catch (RuntimeException | Error e) {
            LOG.log(System.Logger.Level.ERROR, kind + " on event loop " + thread.getName(), e);
        }
    }

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
        // Looked at after the add: either the last drain sees the task, or we see that there is no drain any more.
        if (ended && tasks.remove(task)) {
            throw new RejectedExecutionException(thread.getName() + " has ended");
        }
        if (!inLoop()) {
            if (waking.compareAndSet(false, true)) {
                selector.wakeup();
            }
            leadership.needed();
        }
    }

    @Override
    public Timer schedule(Runnable what, long delayMs) {
        var task = new Task(what, nowMs() + Math.clamp(delayMs, 0, MAX_DELAY_MS),
                timerNumber.getAndIncrement());
        if (inLoop()) {
            timers.add(task);
        } else {
            execute(() -> timers.add(task));
        }
        return task;
    }

    @Override
    public boolean inLoop() { return leadership.isMine(); }

    @Override
    public long nowMs() { return System.nanoTime() / 1_000_000; }

    /** Ends the loop and its connections; returns at once. */
    void stop() {
        stopping = true;
        selector.wakeup();
        leadership.needed();
    }

    /** Waits until the loop has ended; called by the loop itself it returns at once. */
    void awaitEnd() {
        if (inLoop()) {
            return;
        }
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Makes the selector let go of channels that were closed, so that the kernel closes them too; waits for it,
     * but for a caller on the loop's own thread.
     */
    void letGo() {
        var done = new CompletableFuture<Void>();
        try {
            execute(() -> {
                try {
                    selector.selectNow(ready);
                } catch (IOException | RuntimeException e) {
                    LOG.log(System.Logger.Level.DEBUG, "select: {0}", e.toString());
                }
                done.complete(null);
            });
            if (!inLoop()) {
                done.get(LET_GO_MS, TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RejectedExecutionException | ExecutionException | TimeoutException e) {
            LOG.log(System.Logger.Level.DEBUG, "let go: {0}", e.toString());
        }
    }

    private void closeAll() {
        runTasks(MAX_TASKS_PER_TURN); // a connection made or closed just before the end
        for (SelectionKey key : new ArrayList<>(selector.keys())) {
            if (key.attachment() instanceof TcpTransport transport) {
                guard(transport::endWithLoop, "end of a connection");
            }
            closeQuietly(key.channel());
        }
        closeQuietly(selector);
        runTasks(MAX_TASKS_PER_TURN); // what the connections' ends left behind
        ended = true;
        runTasks(Integer.MAX_VALUE);
    }

    /** Closes what cannot be used any more; its failure to close is logged for debugging only. */
    static void closeQuietly(AutoCloseable closeable) {
        try {
            closeable.close();
        } catch (Exception e) {
            LOG.log(System.Logger.Level.DEBUG, "close: {0}", e.toString());
        }
    }
}
