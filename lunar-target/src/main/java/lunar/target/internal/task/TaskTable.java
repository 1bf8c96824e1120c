package lunar.target.internal.task;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Maps tags to tasks: a hash table with open addressing, which allocates nothing for a command, except when it grows.
 * Not thread-safe.
 */
final class TaskTable {
    private static final int SMALLEST = 64;
    private static final int HASH = 0x9e3779b9; // scatters tags that differ in few bits, high ones too

    /** At most half of the places are occupied, so that searches are short. */
    private @Nullable Task[] places = new Task[SMALLEST];
    private int size;

    boolean isEmpty() { return size == 0; }

    /** Returns all current tasks. */
    List<Task> all() {
        var all = new ArrayList<Task>(size);
        for (Task task : places) {
            if (task != null) {
                all.add(task);
            }
        }
        return all;
    }

    /** Returns the task of a tag, or null. */
    @Nullable
    Task find(int itt) { return places[place(places, itt)]; }

    /** Adds a task. No other task may have its tag. */
    void add(Task task) {
        if (2 * (size + 1) > places.length) {
            grow();
        }
        int at = place(places, task.itt());
        assert places[at] == null : "tag " + task.itt() + " twice";
        places[at] = task;
        size++;
    }

    /** Removes a task, if it is there. */
    void remove(Task task) {
        int gap = place(places, task.itt());
        if (!task.equals(places[gap])) {
            return;
        }
        size--;
        int mask = places.length - 1;
        places[gap] = null;
        for (int at = (gap + 1) & mask;; at = (at + 1) & mask) { // it may have displaced later tasks
            Task next = places[at];
            if (next == null) {
                return;
            }
            int home = home(places, next.itt());
            if (((at - home) & mask) >= ((at - gap) & mask)) {
                places[gap] = next;
                places[at] = null;
                gap = at;
            }
        }
    }

    private void grow() {
        var larger = new Task[2 * places.length];
        for (Task task : places) {
            if (task != null) {
                larger[place(larger, task.itt())] = task;
            }
        }
        places = larger;
    }

    private static int home(@Nullable Task[] places, int itt) {
        return ((itt * HASH) >>> 16) & (places.length - 1);
    }

    /** Returns the place where the task of a tag is, or would be. */
    private static int place(@Nullable Task[] places, int itt) {
        int at = home(places, itt);
        for (Task task = places[at]; task != null && task.itt() != itt; task = places[at]) {
            at = (at + 1) & (places.length - 1);
        }
        return at;
    }
}
