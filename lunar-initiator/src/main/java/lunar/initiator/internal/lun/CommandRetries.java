package lunar.initiator.internal.lun;

import lunar.initiator.internal.retry.RetryPolicy;
import lunar.initiator.internal.session.Command;
import lunar.initiator.internal.session.SessionEngine;
import lunar.initiator.internal.session.Tasks;

/** Applies a {@link RetryPolicy} to commands that have ended, and retries them. */
final class CommandRetries {
    private CommandRetries() {}

    /** Returns the pause before a command is sent again, or {@link RetryPolicy#NEVER}, also after a success. */
    static long pauseMs(Command command, RetryPolicy retries, boolean idempotent,
            SessionEngine session) {
        if (command.isGood()) {
            return RetryPolicy.NEVER;
        }
        long leftMs = command.deadlineMs() - session.loop().nowMs();
        if (command.isLost()) {
            return session.isOpen()
                    ? retries.pauseAfterLossMs(idempotent)
                    : RetryPolicy.NEVER;
        }
        if (command.isTerminated()) {
            return retries.pauseAfterTerminationMs(idempotent, leftMs);
        }
        if (!command.isAnswered()) {
            return RetryPolicy.NEVER;
        }
        return retries.pauseMs(command.status(), command.sense(), idempotent, leftMs);
    }

    /** Submits a command again after a pause. */
    static void submit(Command command, long pauseMs, Tasks tasks) {
        if (pauseMs == 0) {
            tasks.submit(command);
        } else {
            tasks.rest(command, pauseMs);
        }
    }
}
