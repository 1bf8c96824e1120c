package lunar.target;

import lunar.scsi.target.Buffers;
import org.jspecify.annotations.Nullable;

/**
 * Lends memory to the commands of a session, so that neither a session nor a unit takes all of it from the others.
 * Confined to the event loop's thread.
 */
final class CommandMemory {
    private final Buffers buffers;
    private final TaskSets sets;
    private long usedBytes;

    CommandMemory(Buffers buffers, TaskSets sets) {
        this.buffers = buffers;
        this.sets = sets;
    }

    /** Lends memory to a command; null where the server has none left, or its session or unit has taken its share. */
    Buffers.@Nullable Buffer take(Task task, int bytes) {
        TaskSet set = task.set;
        if (set == null || !sets.hasMemory(set, bytes, usedBytes)) {
            return null; // without a set the command is declined and needs none
        }
        Buffers.Share share = set.share();
        Buffers.Buffer buffer = share == null ? buffers.take(bytes) : buffers.take(bytes, share);
        if (buffer != null) {
            usedBytes += buffer.memory().byteSize();
            set.lent(buffer.memory().byteSize());
        }
        return buffer;
    }

    void give(TaskSet set, Buffers.Buffer buffer) {
        usedBytes -= buffer.memory().byteSize();
        set.lent(-buffer.memory().byteSize());
        Buffers.Share share = set.share();
        if (share == null) {
            buffers.give(buffer);
        } else {
            buffers.give(buffer, share);
        }
    }
}
