package lunar.target.internal.task;

import lunar.scsi.target.Buffers;
import org.jspecify.annotations.Nullable;

/**
 * Counts the use of a session's command window and memory by one logical unit. Confined to the thread of the session's
 * event loop.
 */
final class UnitUsage {
    private final CommandQuota quota;
    private final Buffers.@Nullable Share share;
    private int taskCount;
    private long lentBytes;

    /** @param share the unit's share of the server's memory; null if there is no unit */
    UnitUsage(CommandQuota quota, Buffers.@Nullable Share share) {
        this.quota = quota;
        this.share = share;
    }

    Buffers.@Nullable Share share() { return share; }

    /** Counts a task; it counts until its device has completed it, even if aborted. */
    void begun() {
        taskCount++;
        quota.occupied(1);
    }

    /** Stops counting a task. */
    void ended() {
        taskCount--;
        quota.occupied(-1);
    }

    int taskCount() { return taskCount; }

    /** Returns the number of bytes of memory that the tasks use. */
    long lentBytes() {
        return lentBytes;
    }

    /** Counts memory; a negative count is returned memory. */
    void lent(long bytes) {
        lentBytes += bytes;
    }

    boolean isUnused() { return taskCount == 0 && lentBytes == 0; }
}
