package lunar.osd.target.command;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Threads that run the commands of a device. They are platform threads, which the operating system time-slices: a
 * command can compute for long, and wait in native code of its store, without a delay for other units of the server.
 * Threads end when they are idle for a minute. Thread-safe.
 */
public final class CommandThreads implements Executor, AutoCloseable {
    private static final long IDLE_SECONDS = 60;

    private final ThreadPoolExecutor pool;

    /**
     * @param threads most commands that run at once
     * @param waiting most further commands that wait for a thread
     */
    public CommandThreads(int threads, int waiting) {
        // Threads must not inherit the Worker of the one that happens to start them.
        pool = new ThreadPoolExecutor(threads, threads, IDLE_SECONDS, TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(waiting),
                Thread.ofPlatform().daemon().inheritInheritableThreadLocals(false)
                        .name("lunar-osd-command-", 0).factory());
        pool.allowCoreThreadTimeOut(true);
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
     * @throws RejectedExecutionException if too many commands wait already, or after {@link #close}
     */
    @Override
    public void execute(Runnable command) { pool.execute(command); }

    /** Accepts no further commands. Does not wait for those that were accepted, which still run. */
    @Override
    public void close() { pool.shutdown(); }
}
