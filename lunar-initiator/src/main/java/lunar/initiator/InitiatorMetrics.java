package lunar.initiator;

import lunar.scsi.Lun;

/**
 * Counts the work of an initiator's sessions: a bridge to whatever collects metrics. Called on the hot path, by any
 * thread: must not block.
 */
@FunctionalInterface
public interface InitiatorMetrics {
    /**
     * A SCSI command has ended.
     *
     * @param opcode first byte of its CDB
     * @param status SCSI status; -1 where the target gave none: timeout, session lost
     * @param bytes to and from the target, in its buffers
     * @param nanos since it was submitted, with its time in the queue
     */
    void commandEnded(Session session, Lun lun, int opcode, int status, long bytes, long nanos);
}
