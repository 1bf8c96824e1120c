package lunar.target.internal.task;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import lunar.iscsi.SerialNumbers;
import lunar.iscsi.session.CommandWindow;
import lunar.iscsi.spi.EventLoop;

/**
 * Tracks commands that precede a task management request and have not arrived yet. An immediate request overtakes them,
 * but also applies to them: it waits for them, or consumes their CmdSNs, so that they are ignored on arrival (RFC 7143
 * sections 4.2.3.3, 4.2.3.4 and 11.6.1). Confined to the event loop's thread.
 */
final class MissingCommands {
    private record Waiter(int cmdSn, CompletableFuture<Void> turn) {}

    private final SessionTasks tasks;
    private final CommandWindow window;
    private final EventLoop loop;
    private final long boundMs;
    private final List<Waiter> waiters = new ArrayList<>();

    MissingCommands(SessionTasks tasks, CommandWindow window, EventLoop loop, long boundMs) {
        this.tasks = tasks;
        this.window = window;
        this.loop = loop;
        this.boundMs = boundMs;
    }

    /** Completes when all commands before a CmdSN have arrived; consumes the CmdSNs of overdue commands. */
    CompletableFuture<Void> awaitBefore(int cmdSn) {
        if (!isMissingBefore(cmdSn)) {
            return CompletableFuture.completedFuture(null);
        }
        var waiter = new Waiter(cmdSn, new CompletableFuture<>());
        waiters.add(waiter);
        EventLoop.Timer timer = loop.schedule(() -> plugBefore(cmdSn), boundMs);
        var _ = waiter.turn.thenRun(timer::cancel);
        return waiter.turn;
    }

    /** Consumes the CmdSNs of all missing commands before a CmdSN. */
    void plugBefore(int cmdSn) {
        while (isMissingBefore(cmdSn)) {
            if (window.accept(window.expCmdSn(), false) != CommandWindow.Verdict.DELIVER) {
                break; // beyond the command window: nothing to wait for
            }
            window.finished();
            tasks.releaseHeld();
        }
        waiters.removeIf(waiter -> waiter.cmdSn == cmdSn && waiter.turn.complete(null));
    }

    /** Consumes the CmdSN of a command that precedes another. Returns false if it can no longer arrive. */
    boolean plug(int cmdSn, int before) {
        if (!SerialNumbers.lessThan(cmdSn, before)
                || SerialNumbers.lessThan(cmdSn, window.expCmdSn())
                || SerialNumbers.lessThan(window.maxCmdSn(), cmdSn)) {
            return false;
        }
        if (window.accept(cmdSn, false) == CommandWindow.Verdict.DELIVER) {
            window.finished();
            tasks.releaseHeld();
        }
        return true;
    }

    /** Completes waits after ExpCmdSN may have advanced. */
    void moved() {
        if (!waiters.isEmpty()) {
            waiters.removeIf(waiter -> !isMissingBefore(waiter.cmdSn)
                    && waiter.turn.complete(null));
        }
    }

    private boolean isMissingBefore(int cmdSn) {
        return SerialNumbers.lessThan(window.expCmdSn(), cmdSn)
                && SerialNumbers.lessOrEqual(cmdSn, window.maxCmdSn() + 1);
    }
}
