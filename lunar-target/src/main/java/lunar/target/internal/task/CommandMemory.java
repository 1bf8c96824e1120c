package lunar.target.internal.task;

import lunar.scsi.target.Buffers;
import org.jspecify.annotations.Nullable;

/**
 * Lends memory to the commands of a session, so that no session or unit can use all of it. Confined to the event loop's
 * thread.
 */
final class CommandMemory {
    private final Buffers buffers;
    private final CommandQuota quota;
    private long usedBytes;

    CommandMemory(Buffers buffers, CommandQuota quota) {
        this.buffers = buffers;
        this.quota = quota;
    }

    /**
     * Lends memory to a command; null if the pool is exhausted, or its session or unit has used its share.
     *
     * @param unit the usage of its unit; null for a rejected command, which needs none
     */
    Buffers.@Nullable Buffer take(@Nullable UnitUsage unit, int bytes) {
        if (unit == null || !quota.hasMemory(unit, bytes, usedBytes)) {
            return null;
        }
        Buffers.Share share = unit.share();
        Buffers.Buffer buffer = share == null ? buffers.take(bytes) : buffers.take(bytes, share);
        if (buffer != null) {
            usedBytes += buffer.memory().byteSize();
            unit.lent(buffer.memory().byteSize());
        }
        return buffer;
    }

    void give(UnitUsage unit, Buffers.Buffer buffer) {
        usedBytes -= buffer.memory().byteSize();
        unit.lent(-buffer.memory().byteSize());
        Buffers.Share share = unit.share();
        if (share == null) {
            buffers.give(buffer);
        } else {
            buffers.give(buffer, share);
        }
    }
}
