package lunar.target;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import lunar.iscsi.TaskAttribute;
import lunar.target.device.Buffers;
import org.jspecify.annotations.Nullable;

/**
 * The tasks of one I_T nexus on one logical unit and the order in which they may begin (SAM-5 section 8.6), each nexus
 * having a task set of its own (TST 001b). Belongs to the session's loop.
 *
 * <p>Tasks stand in ranks: an ORDERED task alone in one, the SIMPLE ones between two of them together. Only tasks of
 * the first rank begin; a HEAD OF QUEUE task is in no rank, begins at once, and nothing else begins before it has
 * ended. While all are SIMPLE there is one rank, and a task costs two additions.
 */
final class TaskSet {
    /** Tasks that may run beside each other. */
    static final class Rank {
        private boolean ordered;
        private int unfinished;
        private final List<Task> waiting = new ArrayList<>(0);
    }

    /** Command priority: 1 goes first, 15 late, and 0 says nothing (SAM-5 section 8.7). */
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

    /** @param share what the unit has of the server's memory; null where there is no unit */
    TaskSet(TaskSets session, Buffers.@Nullable Share share) {
        this.session = session;
        this.share = share;
        ranks.add(last);
    }

    Buffers.@Nullable Share share() { return share; }

    /** Tasks in the set, and aborted ones that the device has not ended. */
    int occupancy() {
        return size + leftBehind;
    }

    /** Bytes of memory that its tasks have. */
    long lentBytes() { return lentBytes; }

    void lent(long bytes) { lentBytes += bytes; }

    /** A command has come. */
    void admit() {
        size++;
        session.occupied(1);
    }

    /** It is the command's turn by its CmdSN: from now on others are older or younger. */
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

    /** All that the task needs is there: it begins, now or when those before it have ended. */
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

    /** A task has ended, or was aborted before it began. */
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

    /** The device keeps an aborted task: nothing waits for it any more, but it counts until it is let go of. */
    void leaveBehind(Task task) {
        leftBehind++;
        session.occupied(1);
        leave(task);
    }

    /** The device has let go of a task that was left behind. */
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

    /** Begins what has come to its turn. A task that ends at once comes back here; the loop then goes on, not down. */
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
                if (!next.aborted()) { // whoever aborts it ends it
                    next.execute();
                }
            }
        } finally {
            releasing = false;
        }
    }
}
