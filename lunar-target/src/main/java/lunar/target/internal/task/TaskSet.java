package lunar.target.internal.task;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import lunar.iscsi.pdu.TaskAttribute;

/**
 * The tasks of one I_T nexus on one logical unit and the order in which they may begin (SAM-5 section 8.6), each nexus
 * having a separate task set (TST 001b). Confined to the thread of the session's event loop.
 *
 * <p>Tasks are placed in ranks: each ORDERED task in a rank of its own, the SIMPLE tasks between two of them together.
 * Only tasks of the first rank begin. HEAD OF QUEUE tasks are in a rank apart, begin at once unless a limit delays
 * them, and no other begins before they have ended. While all tasks are SIMPLE there is one rank, and a task costs two
 * additions.
 */
final class TaskSet {
    /** Tasks that may run concurrently. */
    static final class Rank {
        private boolean ordered;
        private int unfinished;
        private final List<Task> waiting = new ArrayList<>(0);
    }

    /** Orders by command priority, 1 first; 0 means no priority and is last (SAM-5 section 8.7). */
    private static final Comparator<Task> BY_PRIORITY = Comparator
            .comparingInt(task -> task.priority() == 0 ? Integer.MAX_VALUE : task.priority());

    private final UnitUsage usage;
    private final CommandCounters counters;
    private final CommandPacer pacer;
    private final Rank head = new Rank();
    private final Deque<Rank> ranks = new ArrayDeque<>();
    private Rank last = new Rank();
    private int waitingCount;
    private boolean releasing;

    TaskSet(UnitUsage usage, CommandCounters counters, CommandPacer pacer) {
        this.usage = usage;
        this.counters = counters;
        this.pacer = pacer;
        ranks.add(last);
    }

    UnitUsage usage() { return usage; }

    CommandCounters counters() { return counters; }

    /** Places a task in the order when its turn by CmdSN has come. */
    void deliver(Task task) {
        if (task.attribute() == TaskAttribute.HEAD_OF_QUEUE) {
            head.unfinished++;
            task.place(head);
            return;
        }
        boolean ordered = task.attribute() == TaskAttribute.ORDERED;
        if (last.unfinished == 0) {
            last.ordered = ordered;
        } else if (ordered || last.ordered) {
            last = new Rank();
            last.ordered = ordered;
            ranks.add(last);
        }
        last.unfinished++;
        task.place(last);
    }

    /** Begins a task that has all its data, now or when the tasks before it have ended and the limits admit it. */
    void ready(Task task) {
        if (!isTurn(task)) {
            task.await();
            enqueue(task);
        } else if (mayBegin(task)) {
            task.execute();
        } else {
            task.await();
        }
    }

    /** Continues a task whose delay is over. A HEAD OF QUEUE task that has come meanwhile begins first. */
    void resume(Task task) {
        if (isTurn(task)) {
            task.execute();
        } else {
            enqueue(task);
        }
    }

    private boolean isTurn(Task task) {
        Rank rank = task.rank();
        return rank == head || (head.unfinished == 0 && rank == ranks.peekFirst());
    }

    private void enqueue(Task task) {
        Objects.requireNonNull(task.rank()).waiting.add(task);
        waitingCount++;
    }

    /** Whether the limits admit a task now; a task that was refused or declined needs nothing. */
    private boolean mayBegin(Task task) {
        return !task.out().isWanted() || pacer.admits(task, counters);
    }

    /** Removes a task that has ended, or was aborted before it began. */
    void leave(Task task) {
        usage.ended();
        if (task.aborted()) {
            counters.aborted();
            counters.gone();
            pacer.forget(task);
        } else if (task.rank() == null) { // dropped before its turn
            counters.gone();
        } else {
            counters.ended(task, System.nanoTime());
            pacer.settle(task);
        }
        task.record();
        remove(task);
    }

    /** Detaches an aborted task from the set: no task waits for it any longer, but it counts until {@link #letGo}. */
    void leaveBehind(Task task) {
        counters.aborted();
        remove(task);
    }

    /** Stops counting a detached task after its device has completed it. */
    void letGo() {
        usage.ended();
        counters.gone();
    }

    private void remove(Task task) {
        Rank rank = task.rank();
        if (rank == null) { // dropped before its turn
            return;
        }
        rank.unfinished--;
        if (rank != head) {
            if (waitingCount > 0 && rank.waiting.remove(task)) { // it never began
                waitingCount--;
            }
            forgetFinished(rank);
        }
        if (waitingCount > 0) {
            release();
        }
    }

    private void forgetFinished(Rank rank) {
        if (rank.unfinished > 0 || rank == last) {
            return;
        }
        if (rank != ranks.peekFirst()) {
            ranks.remove(rank);
            return;
        }
        while (ranks.size() > 1 && ranks.getFirst().unfinished == 0) {
            ranks.removeFirst();
        }
    }

    /** Begins the tasks that may begin. A task that ends at once calls this again; it then iterates, not recurses. */
    private void release() {
        if (releasing) {
            return;
        }
        releasing = true;
        try {
            while (head.unfinished == 0 && waitingCount > 0) {
                List<Task> waiting = ranks.getFirst().waiting;
                if (waiting.isEmpty()) {
                    return;
                }
                Task next = waiting.stream().min(BY_PRIORITY).orElseThrow(); // the first of equals
                waiting.remove(next);
                waitingCount--;
                if (!next.aborted() && mayBegin(next)) { // an abort ends it
                    next.execute();
                }
            }
        } finally {
            releasing = false;
        }
    }
}
