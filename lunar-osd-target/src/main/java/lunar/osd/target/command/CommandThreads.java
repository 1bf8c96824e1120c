package lunar.osd.target.command;

import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Threads that run the commands of a device. They are platform threads, which the operating system time-slices: a
 * command can compute for long, and wait in native code of its store, without a delay for other units of the server.
 * Threads end when they are idle for a minute. Thread-safe.
 *
 * <p>To wake a thread takes longer than to create an object. So the last thread that becomes idle polls for the next
 * command before it sleeps, while commands come one by one in quick succession ({@link PollTime}). The others sleep,
 * and the one that went to sleep last is woken first.
 */
public final class CommandThreads implements Executor, AutoCloseable {
    private static final System.Logger LOG = System.getLogger(CommandThreads.class.getName());
    private static final long IDLE_NS = TimeUnit.SECONDS.toNanos(60);
    /** Looks for a command between two looks at the clock. */
    private static final int LOOKS = 32;
    /** Content of the {@link #slot} while a thread polls it. */
    private enum Slot implements Runnable {
        POLLED;

        @Override
        public void run() {}
    }

    private final int maxThreads;
    private final int maxWaiting;
    private final ThreadFactory factory;
    private final PollTime pollTime = new PollTime(
            Runtime.getRuntime().availableProcessors());
    /** Passes a command to the thread that polls; null while none does. */
    private final AtomicReference<@Nullable Runnable> slot = new AtomicReference<>();
    private final Object lock = new Object();

    /** These four are guarded by the lock. Commands wait only while no thread is idle. */
    private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
    private final ArrayDeque<Sleeper> sleepers = new ArrayDeque<>();
    private int threads;
    private boolean closed;

    /** A thread that sleeps, and the command that it is woken for. */
    private static final class Sleeper {
        final Thread thread = Thread.currentThread();
        volatile @Nullable Runnable command;
    }

    /**
     * @param threads most commands that run at once
     * @param waiting most further commands that wait for a thread
     */
    public CommandThreads(int threads, int waiting) {
        maxThreads = threads;
        maxWaiting = waiting;
        // Threads must not inherit the Worker of the one that happens to start them.
        factory = Thread.ofPlatform().daemon().inheritInheritableThreadLocals(false)
                .name("lunar-osd-command-", 0).factory();
    }

    /** Returns as many threads as processors can use beside those that wait for the medium. */
    public static CommandThreads ofDevice() {
        return new CommandThreads(
                Math.max(OsdLimits.MIN_THREADS, 2 * Runtime.getRuntime().availableProcessors()),
                OsdLimits.MAX_WAITING);
    }

    /**
     * Runs a command on the next thread that is free.
     *
     * @throws RejectedExecutionException if too many commands wait already or no thread can be started, or after
     *         {@link #close}
     */
    @Override
    public void execute(Runnable command) {
        if (slot.compareAndSet(Slot.POLLED, command)) {
            return;
        }
        Sleeper woken;
        synchronized (lock) {
            if (closed) {
                throw new RejectedExecutionException("the device has ended");
            }
            if (slot.compareAndSet(Slot.POLLED, command)) { // by a thread that was about to
                return;
            }
            woken = sleepers.pollLast();
            if (woken == null) {
                queue(command);
                return;
            }
            woken.command = command;
        }
        LockSupport.unpark(woken.thread);
    }

    /** Has a command wait, or starts a thread for it. */
    private void queue(Runnable command) {
        if (threads < maxThreads) {
            try {
                factory.newThread(() -> run(command)).start();
                threads++;
                return;
            } catch (OutOfMemoryError e) { // at the limit of threads of the process
                if (threads == 0) {
                    throw new RejectedExecutionException("no thread can be started", e);
                }
            }
        }
        if (waiting.size() >= maxWaiting) {
            throw new RejectedExecutionException(maxWaiting + " commands wait already");
        }
        waiting.add(command);
    }

    private void run(Runnable first) {
        for (Runnable command = first; command != null; command = next()) {
            try {
                command.run();
            } catch (RuntimeException | Error e) { // a bug; other commands are not to suffer for it
                LOG.log(System.Logger.Level.ERROR, "internal error of a command", e);
            }
        }
    }

    /** Returns the next command for a thread; null to end it. */
    private @Nullable Runnable next() {
        boolean polls = false;
        synchronized (lock) {
            Runnable command = waiting.poll();
            if (command != null) {
                return command;
            }
            boolean isAlone = threads - sleepers.size() == 1;
            polls = isAlone && !closed && pollTime.ns() > 0
                    && slot.compareAndSet(null, Slot.POLLED);
        }
        long startNs = System.nanoTime();
        Runnable command = polls ? poll(startNs) : null;
        if (command == null) {
            command = sleep();
        }
        pollTime.waited(System.nanoTime() - startNs);
        return command;
    }

    private @Nullable Runnable poll(long startNs) {
        long limitNs = pollTime.ns();
        long lastNs = startNs;
        for (int looks = 1; Slot.POLLED.equals(slot.get()); looks++) {
            if (looks % LOOKS != 0) {
                Thread.onSpinWait();
                continue;
            }
            long nowNs = System.nanoTime();
            boolean isShared = nowNs - lastNs > PollTime.PAUSE_NS;
            if (isShared) {
                pollTime.contended();
            }
            lastNs = nowNs;
            boolean isOver = isShared || nowNs - startNs >= limitNs;
            if (isOver && slot.compareAndSet(Slot.POLLED, null)) {
                return null;
            }
        }
        return slot.getAndSet(null);
    }

    private @Nullable Runnable sleep() {
        var mine = new Sleeper();
        synchronized (lock) {
            Runnable command = waiting.poll();
            if (command != null) {
                return command;
            }
            if (closed) {
                threads--;
                return null;
            }
            sleepers.addLast(mine);
        }
        long startNs = System.nanoTime();
        for (;;) {
            long leftNs = IDLE_NS - (System.nanoTime() - startNs);
            if (leftNs > 0) {
                LockSupport.parkNanos(this, leftNs);
            }
            boolean _ = Thread.interrupted(); // left behind by a command, it would end each wait
            synchronized (lock) {
                boolean over = closed || leftNs <= 0;
                if (mine.command != null || (over && sleepers.remove(mine))) {
                    threads -= mine.command == null ? 1 : 0;
                    return mine.command;
                }
            }
        }
    }

    /** Accepts no further commands. Does not wait for those that were accepted, which still run. */
    @Override
    public void close() {
        synchronized (lock) {
            closed = true;
            boolean _ = slot.compareAndSet(Slot.POLLED, null);
            sleepers.forEach(each -> LockSupport.unpark(each.thread));
        }
    }
}
