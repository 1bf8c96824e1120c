package lunar.target;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Tasks by their tags: a table of open addressing, which makes no objects of its own for what comes and goes with every
 * command. Not thread-safe.
 */
final class TaskTable {
    private static final int SMALLEST = 64;
    private static final int HASH = 0x9e3779b9; // scatters tags that differ in few bits, high ones too

    /** At most half of the places are taken, so that every search ends soon, and ends. */
    private @Nullable Task[] places = new Task[SMALLEST];
    private int size;

    boolean isEmpty() { return size == 0; }

    /** All of them, as of now. */
    List<Task> all() {
        var all = new ArrayList<Task>(size);
        for (Task task : places) {
            if (task != null) {
                all.add(task);
            }
        }
        return all;
    }

    /** The task of a tag, or null. */
    @Nullable
    Task find(int itt) { return places[place(places, itt)]; }

    /** Adds a task, whose tag no other one has. */
    void add(Task task) {
        if (2 * (size + 1) > places.length) {
            grow();
        }
        int at = place(places, task.itt);
        assert places[at] == null : "tag " + task.itt + " twice";
        places[at] = task;
        size++;
    }

    /** Removes a task, if it is there. */
    void remove(Task task) {
        int gap = place(places, task.itt);
        if (!task.equals(places[gap])) {
            return;
        }
        size--;
        int mask = places.length - 1;
        places[gap] = null;
        for (int at = (gap + 1) & mask;; at = (at + 1) & mask) { // those behind may be there for what was in the gap
            Task next = places[at];
            if (next == null) {
                return;
            }
            int home = home(places, next.itt);
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
                larger[place(larger, task.itt)] = task;
            }
        }
        places = larger;
    }

    private static int home(@Nullable Task[] places, int itt) {
        return ((itt * HASH) >>> 16) & (places.length - 1);
    }

    /** Where the task of a tag is, or would be. */
    private static int place(@Nullable Task[] places, int itt) {
        int at = home(places, itt);
        for (Task task = places[at]; task != null && task.itt != itt; task = places[at]) {
            at = (at + 1) & (places.length - 1);
        }
        return at;
    }
}
