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
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import lunar.iscsi.spi.EventLoop;

/** One thread, one selector, and the connections, tasks and timers that belong to it. */
final class SelectorLoop implements EventLoop {
    private static final System.Logger LOG = System.getLogger("lunar.tcp");

    /**
     * Bytes read at once. Larger data segments are then read straight to their destination; measured choice
     * of 16 requests of 4 KiB per read.
     */
    private static final int STAGING_BYTES = 64 * 1024 + 4096;

    /** What a selection key carries: called when its channel is ready. */
    @FunctionalInterface
    interface Ready {
        void run();
    }

    private record Task(Runnable what, long atMs, AtomicBoolean cancelled) {}

    private final Selector selector = Selector.open();
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final PriorityQueue<Task> timers = new PriorityQueue<>(
            Comparator.comparingLong(Task::atMs));
    private final AtomicBoolean waking = new AtomicBoolean();
    private final MemorySegment staging = Arena.ofAuto().allocate(STAGING_BYTES, 64);
    private final ByteBuffer stagingBuffer = staging.asByteBuffer();
    private final Thread thread;
    private volatile boolean stopping;

    SelectorLoop(String name) throws IOException {
        thread = Thread.ofPlatform().name(name).daemon().start(this::run);
    }

    Selector selector() { return selector; }

    /** Read buffer shared by the loop's connections; free between two turns of a connection. */
    MemorySegment staging() {
        return staging;
    }

    ByteBuffer stagingBuffer() { return stagingBuffer; }

    private void run() {
        while (!stopping) {
            try {
                runTasks();
                long waitMs = runTimers();
                waking.set(false);
                if (tasks.isEmpty()) {
                    selector.select(SelectorLoop::ready, waitMs);
                } else {
                    selector.selectNow(SelectorLoop::ready);
                }
                waking.set(true);
            } catch (IOException | RuntimeException e) {
                // A connection catches its own errors; what comes here is ours, and must not end the other connections.
                LOG.log(System.Logger.Level.ERROR, "event loop " + thread.getName(), e);
            }
        }
        closeAll();
    }

    private static void ready(SelectionKey key) {
        if (key.attachment() instanceof Ready ready) {
            ready.run();
        }
    }

    private void runTasks() {
        Runnable task;
        while ((task = tasks.poll()) != null) {
            try {
                task.run();
            } catch (RuntimeException e) {
                LOG.log(System.Logger.Level.ERROR, "task on event loop " + thread.getName(), e);
            }
        }
    }

    /** Runs the timers that are due. Returns milliseconds until the next, 0 for none (the selector's forever). */
    private long runTimers() {
        Task timer;
        while ((timer = timers.peek()) != null) {
            long waitMs = timer.atMs - nowMs();
            if (!timer.cancelled.get() && waitMs > 0) {
                return waitMs;
            }
            timers.poll();
            if (!timer.cancelled.get()) {
                try {
                    timer.what.run();
                } catch (RuntimeException e) {
                    LOG.log(System.Logger.Level.ERROR, "timer on event loop " + thread.getName(),
                            e);
                }
            }
        }
        return 0;
    }

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
        if (stopping && !thread.isAlive()) {
            throw new RejectedExecutionException(thread.getName() + " has ended");
        }
        if (!inLoop() && waking.compareAndSet(false, true)) {
            selector.wakeup();
        }
    }

    @Override
    public Timer schedule(Runnable what, long delayMs) {
        var task = new Task(what, nowMs() + Math.max(0, delayMs), new AtomicBoolean());
        if (inLoop()) {
            timers.add(task);
        } else {
            execute(() -> timers.add(task));
        }
        return () -> task.cancelled.set(true);
    }

    @Override
    public boolean inLoop() { return Thread.currentThread().equals(thread); }

    @Override
    public long nowMs() { return System.nanoTime() / 1_000_000; }

    /** Ends the loop and its connections; returns at once. */
    void stop() {
        stopping = true;
        selector.wakeup();
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

    private void closeAll() {
        for (SelectionKey key : new ArrayList<>(selector.keys())) {
            if (key.attachment() instanceof TcpTransport transport) {
                transport.end(null);
            }
            closeQuietly(key.channel());
        }
        runTasks(); // what the connections' ends left behind
        closeQuietly(selector);
    }

    /** Closes what cannot be used any more, whose own complaint about that is of no interest. */
    static void closeQuietly(AutoCloseable closeable) {
        try {
            closeable.close();
        } catch (Exception e) {
            LOG.log(System.Logger.Level.DEBUG, "close: {0}", e.toString());
        }
    }
}
