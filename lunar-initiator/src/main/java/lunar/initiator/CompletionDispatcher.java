package lunar.initiator;

import java.util.function.BooleanSupplier;
import lunar.iscsi.spi.EventLoop;
import org.jspecify.annotations.Nullable;

/**
 * Dispatches command completions: wakes callers that wait, which may run the event loop meanwhile, and runs completion
 * code of others on the loop's own thread.
 */
final class CompletionDispatcher {
    /** So many lone commands one after the other say that a single thread works with the session. */
    private static final int MIN_ALONE = 16;

    /** Told how each command has ended. */
    @FunctionalInterface
    interface Gauge {
        void ended(Command command, long nanos);
    }

    private final EventLoop loop;
    private final @Nullable Gauge gauge;
    private final BooleanSupplier idle;
    /** Commands one after the other, each of which was waited for and met no other; with the session's lock held. */
    private int alone;

    /**
     * @param gauge hears of each command; null for none
     * @param idle whether no command is outstanding; any thread asks
     */
    CompletionDispatcher(EventLoop loop, @Nullable Gauge gauge, BooleanSupplier idle) {
        this.loop = loop;
        this.gauge = gauge;
        this.idle = idle;
    }

    /** A command begins; also for one that begins again. */
    void begins(Command command) {
        if (gauge != null && command.begunNanos == 0) {
            command.begunNanos = System.nanoTime();
        }
    }

    /** A command is outstanding; with the session's lock held. */
    void joined(Command command, int outstanding) {
        alone = outstanding == 1 && command.waiter != null ? alone + 1 : 0;
    }

    /** No command is outstanding any more; with the session's lock held. */
    void allEnded() {
        if (alone >= MIN_ALONE && loop.inLoop()) {
            loop.lend(idle); // the next, too, would rather receive its answer itself
        }
    }

    /** A command has been sent: unless somebody waits for it, the loop's own thread sees to its answer. */
    void sent(Command command) {
        if (command.waiter == null) {
            loop.attend();
        }
    }

    /** Waits for a command that has a {@link Command#waiter}: the caller. */
    void await(Command command) {
        if (!loop.lead(command)) {
            command.await();
        }
    }

    /** A command tells its end: here to one who waits for it, else on the loop's own thread. */
    void tell(Command command, Command.Ending ending) {
        if (gauge != null) {
            gauge.ended(command, System.nanoTime() - command.begunNanos);
        }
        if (command.waiter == null && loop.isLent()) {
            loop.execute(() -> ending.ended(command));
        } else {
            ending.ended(command);
        }
    }

    /** Runs code of others, not on a guest of the loop. */
    void tell(Runnable what) {
        if (loop.isLent()) {
            loop.execute(what);
        } else {
            what.run();
        }
    }
}
