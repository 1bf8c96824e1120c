package lunar.target.internal.task;

import lunar.scsi.target.Buffers;
import org.jspecify.annotations.Nullable;

/**
 * Counts what the commands of a session use of its command window and memory for one logical unit. Confined to the
 * thread of the session's event loop.
 */
final class UnitUsage {
    private final CommandQuota quota;
    private final Buffers.@Nullable Share share;
    private int taskCount;
    private long lentBytes;

    /** @param share the unit's share of the server's memory; null where there is no unit */
    UnitUsage(CommandQuota quota, Buffers.@Nullable Share share) {
        this.quota = quota;
        this.share = share;
    }

    Buffers.@Nullable Share share() { return share; }

    /** Counts a task; it counts until its device has ended it, even if it is aborted. */
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

    /** Returns the bytes of memory that the tasks have. */
    long lentBytes() { return lentBytes; }

    /** Counts memory; a negative count that which was given back. */
    void lent(long bytes) {
        lentBytes += bytes;
    }

    boolean isUnused() { return taskCount == 0 && lentBytes == 0; }
}
