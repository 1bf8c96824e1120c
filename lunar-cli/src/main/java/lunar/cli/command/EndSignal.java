package lunar.cli.command;

import java.util.concurrent.CountDownLatch;

/** SIGTERM and SIGINT: they end the JVM with status 0, once what the command holds open is closed. */
public final class EndSignal {
    private final Thread hook;

    private EndSignal(Thread hook) { this.hook = hook; }

    /** @param open closed on a thread of its own, in this order; what fails is told, and makes the status 1 */
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
            Runtime.getRuntime().halt(status); // a JVM ended by a signal would tell 143 instead
        }, "lunar-shutdown");
        Runtime.getRuntime().addShutdownHook(hook);
        return new EndSignal(hook);
    }

    /** Waits until a signal comes, or this thread is interrupted. */
    public void await() {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            Runtime.getRuntime().removeShutdownHook(hook);
            Thread.currentThread().interrupt();
        }
    }
}
