package lunar.initiator;

import lunar.scsi.Lun;

/**
 * Receives counts of commands of an initiator's sessions, for a metrics library. Called on the hot path by any thread;
 * must not block.
 */
@FunctionalInterface
public interface InitiatorMetrics {
    /**
     * Counts a SCSI command that has ended.
     *
     * @param opcode first byte of its CDB
     * @param status SCSI status code; -1 if the target returned none, because of a timeout or a lost session. A number,
     *        because a type that can be empty would allocate on the hot path
     * @param bytes size of its buffers, to and from the target
     * @param nanos time since its submission, including that in the queue
     */
    void commandEnded(Session session, Lun lun, int opcode, int status, long bytes, long nanos);
}
