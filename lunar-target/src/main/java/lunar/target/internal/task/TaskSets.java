package lunar.target.internal.task;

import java.util.HashMap;
import java.util.Map;
import lunar.iscsi.pdu.TaskAttribute;
import lunar.scsi.Status;
import lunar.scsi.target.DeviceServer;
import lunar.scsi.target.LogicalUnit;
import org.jspecify.annotations.Nullable;

/** The task sets of a session, one for each logical unit. Confined to the thread of the session's event loop. */
final class TaskSets {
    /** Number of sets beyond which empty ones are removed. */
    private static final int MAX_IDLE = 256;

    private final CommandQuota quota;
    private final SessionCounters counters;
    private final CommandPacer pacer;
    private final Map<DeviceServer, TaskSet> sets = new HashMap<>();

    TaskSets(CommandQuota quota, SessionCounters counters, CommandPacer pacer) {
        this.quota = quota;
        this.counters = counters;
        this.pacer = pacer;
    }

    /** Adds a command to the set of its unit, or rejects it if the set is full (SAM-5 section 5.3.1). */
    void join(Task task, @Nullable LogicalUnit unit, TaskAttribute attribute, int priority) {
        TaskSet set = of(task.server(), unit);
        if (quota.isFull(set.usage())) {
            task.out().decline(Status.TASK_SET_FULL);
            set.counters().refused();
            return;
        }
        task.join(set, attribute, priority);
        set.usage().begun();
        set.counters().begun();
        if (task.state() != TaskState.HELD) {
            set.deliver(task);
        }
    }

    /**
     * Forgets a unit that is no longer served: its set together with its counters, because the set would use the
     * forgotten counters if the unit were served again. Commands that are left behind keep the old set.
     */
    void forget(DeviceServer server) {
        sets.remove(server);
        counters.forget(server);
    }

    /** Returns the set of a unit; null stands for all LUNs without a unit. */
    private TaskSet of(DeviceServer server, @Nullable LogicalUnit unit) {
        TaskSet known = sets.get(server);
        return known != null ? known : add(server, unit);
    }

    private TaskSet add(DeviceServer server, @Nullable LogicalUnit unit) {
        if (sets.size() >= MAX_IDLE) { // units may be removed
            sets.values().removeIf(set -> set.usage().isUnused());
        }
        if (unit != null && sets.values().stream().anyMatch(set -> set.usage().share() != null)) {
            quota.isolate();
        }
        var fresh = new TaskSet(new UnitUsage(quota, unit == null ? null : unit.share()),
                counters.of(server), pacer);
        sets.put(server, fresh);
        return fresh;
    }
}
