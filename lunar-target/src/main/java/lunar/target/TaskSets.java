package lunar.target;

import java.util.HashMap;
import java.util.Map;
import lunar.iscsi.CommandWindow;
import lunar.iscsi.TaskAttribute;
import lunar.scsi.Status;
import lunar.scsi.target.DeviceServer;
import lunar.scsi.target.LogicalUnit;
import org.jspecify.annotations.Nullable;

/**
 * The task sets of a session, and their limits: a logical unit that hangs must leave room in the command window and
 * memory to the others. Confined to the thread of the session's event loop.
 */
final class TaskSets {
    /** Ratio of the command window of a session that uses several units to that of one unit. */
    private static final int WINDOW_UNITS = 4;

    /** Number of sets beyond which empty ones are removed. */
    private static final int MAX_IDLE = 256;

    /** A unit may have this many times the memory that is free. */
    private static final int SHARE_OF_FREE = 3;

    private final CommandWindow window;
    private final ServerLimits limits;
    private final Map<DeviceServer, TaskSet> sets = new HashMap<>();
    /** Whether there are several units, so that one could take room from another. */
    private boolean several;
    private int occupancy;

    /** @param units number of logical units of the target now */
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

    /** Adds to the number of tasks in all sets; a negative count subtracts. */
    void occupied(int count) {
        occupancy += count;
    }

    /** Adds a command to the set of its unit, or declines it where that is full (SAM-5 section 5.3.1). */
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

    /** Returns the set of a unit; null stands for all LUNs without a unit. */
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
     * Whether a unit has as many tasks as it may have: the limit of a session with one unit, and with several units at
     * most half of what the window has left. So each unit finds room, however many of the others hang.
     */
    private boolean isFull(TaskSet set) {
        int most = limits.commandsPerSession() + limits.immediateCommandsPerSession();
        if (several) {
            int total = WINDOW_UNITS * limits.commandsPerSession();
            most = Math.min(most, Math.max(1, (total - occupancy) / 2));
        }
        return set.occupancy() >= most;
    }

    /** Whether a unit may have more of the session's memory, of which {@code usedBytes} are in use. */
    boolean hasMemory(TaskSet set, int bytes, long usedBytes) {
        long free = limits.maxBufferBytesPerSession() - usedBytes - bytes;
        return free >= 0 && (!several || set.lentBytes() == 0
                || set.lentBytes() + bytes <= SHARE_OF_FREE * free);
    }
}
