package lunar.cli.command;

import java.util.concurrent.CountDownLatch;
import lunar.cli.log.LogConfigurator;

/** Handles SIGTERM and SIGINT: closes the command's resources, then ends the JVM with status 0. */
public final class EndSignal {
    private final Thread hook;

    private EndSignal(Thread hook) { this.hook = hook; }

    /** @param open closed on a separate thread, in this order; a failure is reported, and makes the status 1 */
    public static EndSignal closing(Console console, AutoCloseable... open) {
        var hook = new Thread(() -> {
            int status = 0;
            for (AutoCloseable each : open) {
                try {
                    each.close();
                } catch (Exception e) {
                    console.remark(Errors.message(e));
                    status = 1;
                }
            }
            console.out().flush();
            console.err().flush();
            LogConfigurator.flush();
            Runtime.getRuntime().halt(status); // a JVM ended by a signal would tell 143 instead
        }, "lunar-shutdown");
        Runtime.getRuntime().addShutdownHook(hook);
        return new EndSignal(hook);
    }

    /** Stops handling signals: what was to be closed is closed otherwise. */
    public void cancel() {
        try {
            boolean _ = Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException _) {
            // a signal has come, and ends the process
        }
    }

    /** Waits until a signal comes, or this thread is interrupted. */
    public void await() {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            cancel();
            Thread.currentThread().interrupt();
        }
    }
}
