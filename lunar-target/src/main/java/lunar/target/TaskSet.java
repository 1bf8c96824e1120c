package lunar.target;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import lunar.iscsi.TaskAttribute;
import lunar.scsi.target.Buffers;
import org.jspecify.annotations.Nullable;

/**
 * The tasks of one I_T nexus on one logical unit and the order in which they may begin (SAM-5 section 8.6), each nexus
 * having a task set of its own (TST 001b). Confined to the thread of the session's event loop.
 *
 * <p>Tasks are placed in ranks: each ORDERED task in a rank of its own, the SIMPLE tasks between two of them together.
 * Only tasks of the first rank begin; a HEAD OF QUEUE task is in no rank, begins at once, and no other begins before it
 * has ended. While all are SIMPLE there is one rank, and a task costs two additions.
 */
final class TaskSet {
    /** Tasks that may run concurrently. */
    static final class Rank {
        private boolean ordered;
        private int unfinished;
        private final List<Task> waiting = new ArrayList<>(0);
    }

    /** Orders by command priority: 1 first, 15 late, and 0, which is no priority, last (SAM-5 section 8.7). */
    private static final Comparator<Task> BY_PRIORITY = Comparator
            .comparingInt(task -> task.priority == 0 ? Integer.MAX_VALUE : task.priority);

    private final TaskSets session;
    private final Buffers.@Nullable Share share;
    private final Deque<Rank> ranks = new ArrayDeque<>();
    private Rank last = new Rank();
    private int headCount;
    private int waitingCount;
    private int size;
    private int leftBehind;
    private long lentBytes;
    private boolean releasing;

    /** @param share the unit's share of the server's memory; null where there is no unit */
    TaskSet(TaskSets session, Buffers.@Nullable Share share) {
        this.session = session;
        this.share = share;
        ranks.add(last);
    }

    Buffers.@Nullable Share share() { return share; }

    /** Returns the number of tasks in the set, including aborted ones that the device has not ended. */
    int occupancy() {
        return size + leftBehind;
    }

    /** Returns the bytes of memory that its tasks have. */
    long lentBytes() { return lentBytes; }

    void lent(long bytes) { lentBytes += bytes; }

    /** Counts a command that has arrived. */
    void admit() {
        size++;
        session.occupied(1);
    }

    /** Places a task in the order when its turn by CmdSN has come. */
    void deliver(Task task) {
        task.placed = true;
        if (task.attribute == TaskAttribute.HEAD_OF_QUEUE) {
            headCount++;
            return;
        }
        boolean ordered = task.attribute == TaskAttribute.ORDERED;
        if (last.unfinished == 0) {
            last.ordered = ordered;
        } else if (ordered || last.ordered) {
            last = new Rank();
            last.ordered = ordered;
            ranks.add(last);
        }
        last.unfinished++;
        task.rank = last;
    }

    /** Begins a task that has all its data, now or when the tasks before it have ended. */
    void ready(Task task) {
        Rank rank = task.rank;
        if (rank == null || (headCount == 0 && rank == ranks.peekFirst())) {
            task.execute();
            return;
        }
        task.state = Task.State.WAITING;
        rank.waiting.add(task);
        waitingCount++;
    }

    /** Removes a task that has ended, or was aborted before it began. */
    void leave(Task task) {
        size--;
        session.occupied(-1);
        if (!task.placed) {
            return;
        }
        Rank rank = task.rank;
        if (rank == null) {
            headCount--;
        } else {
            rank.unfinished--;
            if (waitingCount > 0 && rank.waiting.remove(task)) { // it never began
                waitingCount--;
            }
            forgetFinished(rank);
        }
        if (waitingCount > 0) {
            release();
        }
    }

    /** Leaves an aborted task to its device: nothing waits for it any more, but it counts until {@link #letGo}. */
    void leaveBehind(Task task) {
        leftBehind++;
        session.occupied(1);
        leave(task);
    }

    /** Stops counting a task that was left behind when its device has ended it. */
    void letGo() {
        leftBehind--;
        session.occupied(-1);
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
            while (headCount == 0 && waitingCount > 0) {
                List<Task> waiting = ranks.getFirst().waiting;
                if (waiting.isEmpty()) {
                    return;
                }
                Task next = waiting.stream().min(BY_PRIORITY).orElseThrow(); // the first of equals
                waiting.remove(next);
                waitingCount--;
                if (!next.aborted()) { // its abort ends it
                    next.execute();
                }
            }
        } finally {
            releasing = false;
        }
    }
}
