package lunar.initiator.internal.session;

import org.jspecify.annotations.Nullable;

/** A pool of idle commands, so that the steady state allocates none. Thread-safe; called with or without a lock. */
final class CommandPool {
    private @Nullable Command top;

    @Nullable
    synchronized Command take() {
        Command taken = top;
        if (taken != null) {
            top = taken.next;
            taken.next = null;
        }
        return taken;
    }

    synchronized void give(Command command) {
        command.next = top;
        top = command;
    }
}
