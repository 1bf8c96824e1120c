package lunar.initiator;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import lunar.iscsi.TaskManagementFunction;
import lunar.iscsi.TaskManagementResponseCode;
import lunar.iscsi.TextKeys;
import lunar.scsi.Bytes;
import lunar.scsi.Lun;

/**
 * What an initiator may ask of a target within a session, as a value; {@link Session#start} makes a {@link Task} of it.
 *
 * @param <R> what it comes to
 */
public sealed interface Exchange<R> {
    /**
     * A SCSI command (RFC 7143 section 11.3). Its status, whatever it is, is the caller's to judge; nothing is
     * repeated.
     *
     * @param cdb 6 to 260 bytes
     * @param dataIn where data from the target go, {@link MemorySegment#NULL} for none; of an arena that all threads
     *        may use, and left alone until the task has ended
     * @param dataOut data for the target, {@link MemorySegment#NULL} for none; likewise
     * @param timeoutMs until it is aborted; 0 for what the session's {@link Timeouts} say
     */
    record Scsi(Lun lun, Bytes cdb, MemorySegment dataIn, MemorySegment dataOut, int timeoutMs)
            implements
            Exchange<ScsiResult> {
        public Scsi {
            if (cdb.length() < 6 || cdb.length() > Command.MAX_CDB_BYTES || timeoutMs < 0) {
                throw new IllegalArgumentException(
                        "a CDB of " + cdb.length() + " bytes, " + timeoutMs + " ms");
            }
        }

        /** A command that reads. */
        public static Scsi reading(Lun lun, Bytes cdb, MemorySegment dataIn) {
            return new Scsi(lun, cdb, dataIn, MemorySegment.NULL, 0);
        }

        /** A command that writes, or has no data where there are none. */
        public static Scsi writing(Lun lun, Bytes cdb, MemorySegment dataOut) {
            return new Scsi(lun, cdb, MemorySegment.NULL, dataOut, 0);
        }

        /** The same with a time of its own. */
        public Scsi withTimeoutMs(int value) {
            return new Scsi(lun, cdb, dataIn, dataOut, value);
        }
    }

    /** A NOP-Out that asks for its answer (section 11.18); comes to the nanoseconds it took. */
    record Ping() implements Exchange<Long> {}

    /**
     * A task management function (section 11.5). What ends tasks of this session ends them here too, with
     * {@link lunar.block.AbortedException}.
     *
     * @param lun of the unit; ignored for a function of the whole target
     * @param task the referenced task, where the function refers to one: a SCSI command of this session
     */
    record Manage(TaskManagementFunction function, Lun lun,
            Optional<Task<ScsiResult>> task) implements Exchange<TaskManagementResponseCode> {
        public Manage {
            if (function == TaskManagementFunction.TASK_REASSIGN) {
                throw new IllegalArgumentException("tasks are reassigned by the session itself");
            }
            if (function.refersToTask() != task.isPresent()) {
                throw new IllegalArgumentException(function + (task.isPresent()
                        ? " refers to no task"
                        : " must refer to a task"));
            }
        }

        /** Of a unit, or of the whole target. */
        public static Manage of(TaskManagementFunction function, Lun lun) {
            return new Manage(function, lun, Optional.empty());
        }

        /** Asks whether the target has a task (RFC 7144 section 4.2). */
        public static Manage query(Task<ScsiResult> task) {
            return new Manage(TaskManagementFunction.QUERY_TASK,
                    ((Scsi) task.exchange()).lun(), Optional.of(task));
        }
    }

    /** A Text Request (section 11.10), for example SendTargets; comes to the whole answer. */
    record Text(TextKeys keys) implements Exchange<TextKeys> {}

    /** A Logout that closes the session (section 11.14); comes to nothing, and cannot be cancelled. */
    record Logout() implements Exchange<Void> {}
}
