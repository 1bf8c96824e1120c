package lunar.target.internal.task;

import lunar.iscsi.session.CommandWindow;
import lunar.target.ServerLimits;

/**
 * Divides the command window and the memory of a session among its logical units: a hanging unit must not block the
 * others. Confined to the thread of the session's event loop.
 */
final class CommandQuota {
    /** Ratio of the command window of a session that uses several units to that of one unit. */
    private static final int WINDOW_UNITS = 4;

    /** A unit may use at most this many times the memory that is free. */
    private static final int SHARE_OF_FREE = 3;

    private final CommandWindow window;
    private final ServerLimits limits;
    /** Whether there are several units, which share the quota. */
    private boolean several;
    private int occupancy;

    /** @param units number of logical units of the target now */
    CommandQuota(CommandWindow window, ServerLimits limits, int units) {
        this.window = window;
        this.limits = limits;
        if (units > 1) {
            isolate();
        }
    }

    /** Switches to several units, with a larger command window. */
    void isolate() {
        if (!several) {
            several = true;
            window.limit(Math.min(CommandWindow.MAX_LIMIT,
                    WINDOW_UNITS * limits.commandsPerSession()));
        }
    }

    /** Adds to the number of tasks of all units; a negative count subtracts. */
    void occupied(int count) {
        occupancy += count;
    }

    /**
     * Whether a unit has reached its task limit: the session's limit with one unit, and half of the remaining window
     * with several units, so that each unit can run commands even if others hang.
     */
    boolean isFull(UnitUsage unit) {
        int most = limits.commandsPerSession() + limits.immediateCommandsPerSession();
        if (several) {
            int total = WINDOW_UNITS * limits.commandsPerSession();
            most = Math.min(most, Math.max(1, (total - occupancy) / 2));
        }
        return unit.taskCount() >= most;
    }

    /** Whether a unit may use this much more of the session's memory, of which {@code usedBytes} are in use. */
    boolean hasMemory(UnitUsage unit, int bytes, long usedBytes) {
        long free = limits.maxBufferBytesPerSession() - usedBytes - bytes;
        return free >= 0 && (!several || unit.lentBytes() == 0
                || unit.lentBytes() + bytes <= SHARE_OF_FREE * free);
    }
}
