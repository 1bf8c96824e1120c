package lunar.loop;

import java.io.IOException;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import lunar.iscsi.spi.EventLoop;
import lunar.iscsi.spi.Polling;
import org.jspecify.annotations.Nullable;

/**
 * An event loop over one {@link EventSource}. One thread at a time runs its tasks, its timers and the source's events:
 * the loop's own thread, or a guest ({@link #lead}), which handles the events of its one connection and leaves tasks
 * and timers to the loop's own thread. Work that may block is run by the loop's own thread too, which another thread
 * relieves if that takes long ({@link #executeBriefly}).
 */
public final class EventSourceLoop implements EventLoop {
    private static final System.Logger LOG = System.getLogger("lunar.loop");

    /** Tasks run before the connections get their turn, which tasks that call for more tasks must not starve. */
    private static final int MAX_TASKS_PER_TURN = 1024;

    private static final long MAX_DELAY_MS = Long.MAX_VALUE / 4;
    private static final long NS_PER_MS = 1_000_000;

    /** A timer. Cancelled timers stay in the queue until they are due, so they clear the reference to their action. */
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

    private final EventSource source;
    private final TaskQueue tasks = new TaskQueue();
    private final PriorityQueue<Task> timers = new PriorityQueue<>(
            Comparator.<Task>comparingLong(task -> task.atMs)
                    .thenComparingLong(task -> task.number));
    private final AtomicLong timerNumber = new AtomicLong();
    private final AtomicBoolean waking = new AtomicBoolean();
    private final String name;
    private final Thread thread;
    private final Leadership leadership;
    private final Relief relief;
    private final PollWindow window;
    private @Nullable BooleanSupplier lend;
    private volatile boolean stopping;
    private volatile boolean ended;
    private final CountDownLatch end = new CountDownLatch(1);
    /** Whether there is work for the loop's own thread other than events and timers. */
    private final BooleanSupplier pending = this::isPending;
    /** Whether a guest is to leave. */
    private final BooleanSupplier wanted;

    /**
     * Creates a loop that {@link #start} starts.
     *
     * @param name of the loop's own thread, a daemon
     * @param source the loop closes it when it ends
     * @param polling how long to poll for events before each sleep
     */
    public EventSourceLoop(String name, EventSource source, Polling polling) {
        this.source = source;
        this.name = name;
        window = new PollWindow(polling);
        thread = Thread.ofPlatform().name(name).daemon().unstarted(this::run);
        leadership = new Leadership(thread, pending);
        relief = new Relief(name + "-relief", leadership, this::runLoop,
                work -> guard(work, "work"));
        wanted = leadership::isWanted;
    }

    private boolean isPending() { return stopping || !tasks.isEmpty(); }

    /** Starts the loop's own thread. Called once. */
    public void start() { thread.start(); }

    /** Returns the source that this loop runs. */
    public EventSource source() { return source; }

    private void run() {
        leadership.begin();
        relief.run();
    }

    /** Runs the loop until it stops: then returns false. Returns true if another thread has taken it over. */
    private boolean runLoop() {
        boolean relieved = false;
        try {
            while (!stopping && !relieved) {
                turn();
                relieved = !relief.runWork();
            }
            if (!relieved) {
                closeAll();
            }
            return relieved;
        } finally {
            if (!relieved) {
                end.countDown();
            }
        }
    }

    private void turn() {
        // An interrupt flag left by a task would make every wait return immediately.
        boolean _ = Thread.interrupted();
        try {
            runTasks(MAX_TASKS_PER_TURN);
            long waitMs = runTimers();
            if (lendIfAsked()) {
                waitMs = runTimers(); // time has passed, and guests may have set timers
            }
            if (relief.hasWork()) {
                boolean _ = source.poll();
            } else {
                awaitEvents(waitMs, pending);
            }
        } catch (IOException | RuntimeException | Error e) {
            // Connections handle their own errors; an exception here is a bug, and must not end other connections.
            LOG.log(System.Logger.Level.ERROR, "internal error on event loop " + name, e);
        } finally {
            waking.set(true);
        }
    }

    /**
     * Waits for events and handles them: polls within the window, then sleeps.
     *
     * @param limitMs longest wait; 0 for no limit
     * @param until ends the wait; checked before each poll, and before the sleep
     */
    private void awaitEvents(long limitMs, BooleanSupplier until) throws IOException {
        if (!window.isOpen()) {
            sleep(limitMs, until);
            return;
        }
        long startNs = System.nanoTime();
        long limitNs = limitMs == 0 ? Long.MAX_VALUE : TimeUnit.MILLISECONDS.toNanos(limitMs);
        if (!pollFor(Math.min(window.ns(), limitNs), startNs, until)) {
            long leftNs = limitNs - (System.nanoTime() - startNs);
            if (limitMs == 0) {
                sleep(0, until);
            } else if (leftNs > 0) { // else a timer is due
                sleep(Math.ceilDiv(leftNs, NS_PER_MS), until);
            }
        }
        window.waited(System.nanoTime() - startNs);
    }

    /** Polls for some time. Returns whether there was an event, or the condition holds. */
    private boolean pollFor(long limitNs, long startNs, BooleanSupplier until)
            throws IOException {
        while (System.nanoTime() - startNs < limitNs) {
            if (source.poll() || until.getAsBoolean()) {
                return true;
            }
            Thread.onSpinWait();
        }
        return false;
    }

    private void sleep(long limitMs, BooleanSupplier until) throws IOException {
        waking.set(false);
        if (until.getAsBoolean()) {
            boolean _ = source.poll();
        } else {
            source.await(limitMs);
        }
        waking.set(true);
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

    /** Lends the loop to guests if that was asked for, and returns when it is back. Returns whether it was lent. */
    private boolean lendIfAsked() {
        BooleanSupplier nothingExpected = lend;
        lend = null;
        if (nothingExpected == null || !tasks.isEmpty() || relief.hasWork()
                || source.size() != 1) {
            return false;
        }
        leadership.lend(nothingExpected);
        return true;
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
                awaitEvents(timer == null ? 0 : waitMs, wanted);
                interrupted |= Thread.interrupted(); // which would make every wait return at once
            }
        } catch (IOException | RuntimeException e) {
            LOG.log(System.Logger.Level.ERROR, "internal error on event loop " + name, e);
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

    /** Runs the timers that are due. Returns milliseconds until the next, 0 for none. */
    private long runTimers() {
        // Read once, so that timers that set immediate timers do not starve the connections.
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
            LOG.log(System.Logger.Level.ERROR, kind + " failed on event loop " + name, e);
        }
    }

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
        // Checked after the add: either the last drain sees the task, or this thread sees that there is no further
        // drain.
        if (ended && tasks.remove(task)) {
            throw new RejectedExecutionException(name + " has ended");
        }
        if (!inLoop()) {
            if (waking.compareAndSet(false, true)) {
                source.wakeup();
            }
            leadership.needed();
        }
    }

    @Override
    public void executeBriefly(Runnable work, Executor executor) {
        if (stopping || !inLoop() || leadership.isGuests() || !relief.accept(work)) {
            executor.execute(work);
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
    public long nowMs() { return System.nanoTime() / NS_PER_MS; }

    /** Ends the loop and its connections; returns at once. Any thread. */
    public void stop() {
        stopping = true;
        source.wakeup();
        leadership.needed();
    }

    /** Waits until the loop has ended; returns at once on the loop's own thread. An interrupt ends the wait. */
    public void awaitEnd() {
        if (inLoop()) {
            return;
        }
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void closeAll() {
        runTasks(MAX_TASKS_PER_TURN); // a connection made or closed just before the end
        guard(source::close, "end of connections");
        runTasks(MAX_TASKS_PER_TURN); // tasks queued when the connections ended
        ended = true;
        runTasks(Integer.MAX_VALUE);
    }
}
