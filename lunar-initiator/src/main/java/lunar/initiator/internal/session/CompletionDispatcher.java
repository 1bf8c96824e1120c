package lunar.initiator.internal.session;

import java.util.function.BooleanSupplier;
import lunar.block.InvalidRequestException;
import lunar.iscsi.spi.EventLoop;
import org.jspecify.annotations.Nullable;

/**
 * Dispatches command completions: wakes waiting callers, which may run the event loop meanwhile, and runs other
 * completions on the event loop's own thread.
 */
public final class CompletionDispatcher {
    /** After so many lone commands in a row the session counts as used by a single thread. */
    private static final int MIN_ALONE = 16;

    /** Called with each command that has ended. */
    @FunctionalInterface
    interface Gauge {
        void ended(Command command, long nanos);
    }

    private final EventLoop loop;
    private final @Nullable Gauge gauge;
    private final BooleanSupplier idle;
    /** Commands in a row that each had a waiting caller and were alone; with the session's lock held. */
    private int alone;

    /**
     * @param gauge called with each command; null for none
     * @param idle whether no command is outstanding; called by any thread
     */
    CompletionDispatcher(EventLoop loop, @Nullable Gauge gauge, BooleanSupplier idle) {
        this.loop = loop;
        this.gauge = gauge;
        this.idle = idle;
    }

    /** Records that a command begins; also called for one that begins again. */
    void begins(Command command) {
        if (gauge != null && command.begunNanos == 0) {
            command.begunNanos = System.nanoTime();
        }
    }

    /** Records that a command is outstanding; with the session's lock held. */
    void joined(Command command, int outstanding) {
        alone = outstanding == 1 && command.waiter != null ? alone + 1 : 0;
    }

    /** Called when no command is outstanding any longer; with the session's lock held. */
    void allEnded() {
        if (alone >= MIN_ALONE && loop.inLoop()) {
            loop.lend(idle); // the next caller, too, is expected to receive its answer itself
        }
    }

    /** Called when a command is sent: unless a caller waits for it, the event loop's own thread takes its answer. */
    void sent(Command command) {
        if (command.waiter == null) {
            loop.attend();
        }
    }

    /** Refuses a blocking call on the event loop's thread, which would wait for itself forever. */
    public void refuseOnLoop() throws InvalidRequestException {
        if (loop.inLoop()) {
            throw new InvalidRequestException(
                    "a completion must not wait for another request: submit it instead");
        }
    }

    /** Waits for a command; its {@link Command#waiter} is the calling thread. */
    public void await(Command command) {
        if (!loop.lead(command)) {
            command.await();
        }
    }

    /** Dispatches a completion: here to a caller that waits for it, else on the event loop's own thread. */
    void tell(Command command) {
        if (gauge != null) {
            gauge.ended(command, System.nanoTime() - command.begunNanos);
        }
        if (command.waiter == null && loop.isLent()) {
            loop.execute(command::tellOwner);
        } else {
            command.tellOwner();
        }
    }

    /** Runs foreign code, never on a thread to which the event loop is lent. */
    void tell(Runnable what) {
        if (loop.isLent()) {
            loop.execute(what);
        } else {
            what.run();
        }
    }
}
