package lunar.initiator;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.iscsi.pdu.TaskManagementResponseCode;
import lunar.iscsi.text.TextKeys;
import lunar.scsi.Bytes;
import lunar.scsi.Lun;

/**
 * A request to the target within a session, as a value; {@link Session#start} starts it as a {@link Task}.
 *
 * @param <R> type of the result
 */
public sealed interface Exchange<R> {
    /**
     * A SCSI command (RFC 7143 section 11.3). Completes with any SCSI status, which the caller judges; nothing is
     * repeated.
     *
     * @param cdb 6 to 260 bytes
     * @param dataIn buffer for data from the target, {@link MemorySegment#NULL} for none; of an arena that all threads
     *        may use, and not to be touched until the task has ended
     * @param dataOut data for the target, {@link MemorySegment#NULL} for none; likewise
     * @param timeoutMs time until it is aborted; 0 for that of the session's {@link Timeouts}
     */
    record Scsi(Lun lun, Bytes cdb, MemorySegment dataIn, MemorySegment dataOut, int timeoutMs)
            implements
            Exchange<ScsiResult> {
        /** Longest CDB: the 16 bytes of the header and those of an AHS (SPC-5 section 4.2.4). */
        public static final int MAX_CDB_BYTES = 260;

        public Scsi {
            if (cdb.length() < 6 || cdb.length() > MAX_CDB_BYTES || timeoutMs < 0) {
                throw new IllegalArgumentException(
                        "invalid CDB length or timeout: " + cdb.length() + " bytes, " + timeoutMs
                                + " ms");
            }
        }

        /** Returns a command that reads. */
        public static Scsi reading(Lun lun, Bytes cdb, MemorySegment dataIn) {
            return new Scsi(lun, cdb, dataIn, MemorySegment.NULL, 0);
        }

        /** Returns a command that writes, or one without data where {@code dataOut} is empty. */
        public static Scsi writing(Lun lun, Bytes cdb, MemorySegment dataOut) {
            return new Scsi(lun, cdb, MemorySegment.NULL, dataOut, 0);
        }

        /** Returns this command with another timeout. */
        public Scsi withTimeoutMs(int value) {
            return new Scsi(lun, cdb, dataIn, dataOut, value);
        }
    }

    /** A NOP-Out that requests an answer (section 11.18); its result is the round-trip time in nanoseconds. */
    record Ping() implements Exchange<Long> {}

    /**
     * A task management function (section 11.5). A function that ends tasks of this session ends them here too, with
     * {@link lunar.block.AbortedException}.
     *
     * @param lun LUN of the unit; ignored for a function of the whole target
     * @param task the referenced task, where the function refers to one: a SCSI command of this session
     */
    record Manage(TaskManagementFunction function, Lun lun,
            Optional<Task<ScsiResult>> task) implements Exchange<TaskManagementResponseCode> {
        public Manage {
            if (function == TaskManagementFunction.TASK_REASSIGN) {
                throw new IllegalArgumentException("TASK REASSIGN is sent by the session itself");
            }
            if (function.refersToTask() != task.isPresent()) {
                throw new IllegalArgumentException(function + (task.isPresent()
                        ? " refers to no task"
                        : " must refer to a task"));
            }
        }

        /** Returns a function for a unit, or for the whole target. */
        public static Manage of(TaskManagementFunction function, Lun lun) {
            return new Manage(function, lun, Optional.empty());
        }

        /** Returns a query whether the target has a task (RFC 7144 section 4.2). */
        public static Manage query(Task<ScsiResult> task) {
            return new Manage(TaskManagementFunction.QUERY_TASK,
                    ((Scsi) task.exchange()).lun(), Optional.of(task));
        }
    }

    /** A Text Request (section 11.10), for example SendTargets; its result is the whole answer. */
    record Text(TextKeys keys) implements Exchange<TextKeys> {}

    /** A Logout that closes the session (section 11.14); has no result, and cannot be cancelled. */
    record Logout() implements Exchange<Void> {}
}
