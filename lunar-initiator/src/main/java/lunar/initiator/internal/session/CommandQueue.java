package lunar.initiator.internal.session;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A FIFO queue of commands that wait for a slot, linked through {@link Command#next}. */
final class CommandQueue {
    private @Nullable Command head;
    private @Nullable Command tail;

    boolean isEmpty() { return head == null; }

    void add(Command command) {
        command.next = null;
        Command last = tail;
        if (last == null) {
            head = command;
        } else {
            last.next = command;
        }
        tail = command;
    }

    /** Removes and returns the first command, if there is one. */
    @Nullable
    Command poll() {
        Command first = head;
        if (first != null) {
            unlink(null, first);
            first.next = null;
        }
        return first;
    }

    /** Removes and returns the commands that are past their deadline. */
    List<Command> pollLate(long nowMs) {
        var late = new ArrayList<Command>();
        Command before = null;
        for (Command each = head; each != null; each = each.next) {
            if (each.deadlineMs <= nowMs) {
                unlink(before, each);
                late.add(each);
            } else {
                before = each;
            }
        }
        return late;
    }

    /** Removes and returns all commands. */
    List<Command> pollAll() {
        return pollLate(Long.MAX_VALUE);
    }

    private void unlink(@Nullable Command before, Command command) {
        if (before == null) {
            head = command.next;
        } else {
            before.next = command.next;
        }
        if (command.next == null) {
            tail = before;
        }
    }
}
