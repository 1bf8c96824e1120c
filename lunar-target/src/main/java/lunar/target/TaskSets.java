package lunar.target;

import java.util.HashMap;
import java.util.Map;
import lunar.iscsi.CommandWindow;
import lunar.iscsi.TaskAttribute;
import lunar.scsi.Status;
import lunar.target.device.DeviceServer;
import lunar.target.device.LogicalUnit;
import org.jspecify.annotations.Nullable;

/**
 * The task sets of one session, and their bounds: a logical unit that hangs must leave room in the command window and
 * memory to the others. Belongs to the session's loop.
 */
final class TaskSets {
    /** The window of a session that uses several units is so many times the one of a unit. */
    private static final int WINDOW_UNITS = 4;

    /** Sets that are kept although nothing is in them. */
    private static final int MAX_IDLE = 256;

    /** A unit may have this many times the memory that is free. */
    private static final int SHARE_OF_FREE = 3;

    private final CommandWindow window;
    private final ServerLimits limits;
    private final Map<DeviceServer, TaskSet> sets = new HashMap<>();
    /** There is another unit that one of them could take room from. */
    private boolean several;
    private int occupancy;

    /** @param units logical units of the target now */
    TaskSets(CommandWindow window, ServerLimits limits, int units) {
        this.window = window;
        this.limits = limits;
        isolate(units > 1);
    }

    private void isolate(boolean several) {
        if (several && !this.several) {
            this.several = true;
            window.limit(Math.min(CommandWindow.MAX_LIMIT,
                    WINDOW_UNITS * limits.commandsPerSession()));
        }
    }

    /** More tasks, or with a negative count fewer, in one of the sets. */
    void occupied(int count) {
        occupancy += count;
    }

    /** Puts a command into the set of its unit, or turns it away where that is full (SAM-5 section 5.3.1). */
    void join(Task task, @Nullable LogicalUnit unit, TaskAttribute attribute, int priority) {
        TaskSet set = of(task.server, unit);
        if (isFull(set)) {
            task.decline(Status.TASK_SET_FULL);
            return;
        }
        task.set = set;
        task.attribute = attribute;
        task.priority = priority;
        set.admit();
        if (task.delivered) {
            set.deliver(task);
        }
    }

    /** The set of a unit; with null that of all LUNs where nothing is. */
    private TaskSet of(DeviceServer server, @Nullable LogicalUnit unit) {
        TaskSet known = sets.get(server);
        return known != null ? known : add(server, unit);
    }

    private TaskSet add(DeviceServer server, @Nullable LogicalUnit unit) {
        if (sets.size() >= MAX_IDLE) { // units come and go
            sets.values().removeIf(set -> set.occupancy() == 0 && set.lentBytes() == 0);
        }
        isolate(unit != null && sets.values().stream().anyMatch(set -> set.share() != null));
        var fresh = new TaskSet(this, unit == null ? null : unit.share());
        sets.put(server, fresh);
        return fresh;
    }

    /**
     * Whether a unit has as many tasks as it may: what a session with one unit may have, and of several at most half of
     * what the window has left. So each of them finds room, however many of the others hang.
     */
    private boolean isFull(TaskSet set) {
        int most = limits.commandsPerSession() + limits.immediateCommandsPerSession();
        if (several) {
            int total = WINDOW_UNITS * limits.commandsPerSession();
            most = Math.min(most, Math.max(1, (total - occupancy) / 2));
        }
        return set.occupancy() >= most;
    }

    /** Whether a unit may have more of the session's memory, of which so much is in use. */
    boolean hasMemory(TaskSet set, int bytes, long usedBytes) {
        long free = limits.maxBufferBytesPerSession() - usedBytes - bytes;
        return free >= 0 && (!several || set.lentBytes() == 0
                || set.lentBytes() + bytes <= SHARE_OF_FREE * free);
    }
}
