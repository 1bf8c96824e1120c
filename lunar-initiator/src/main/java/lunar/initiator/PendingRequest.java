package lunar.initiator;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.TargetPdu;
import lunar.scsi.Lun;

/**
 * A request to the target other than a SCSI command (ping, task management, logout, text) that waits for its response.
 * Confined to the event loop's thread.
 */
abstract class PendingRequest {
    final Connection connection;
    final String name;
    final long deadlineMs;
    int itt;

    /**
     * @param connection by which it is asked and answered
     * @param name what is asked, for messages
     */
    PendingRequest(Connection connection, String name, long deadlineMs) {
        this.connection = connection;
        this.name = name;
        this.deadlineMs = deadlineMs;
    }

    /**
     * The answer has come.
     *
     * @param data its data segment; valid during the call
     * @return whether this was the last answer
     */
    abstract boolean answered(TargetPdu pdu, MemorySegment data) throws ProtocolException;

    /**
     * Whether the target, when it does what is asked, ends tasks of a unit: those before {@link #beforeCmdSn}. It may
     * tell of that before it answers (RFC 7143 section 11.9.1, AsyncEvent 5).
     */
    boolean endsTasksOf(Lun lun) { return false; }

    /** CmdSN of the first command that it does not concern. */
    int beforeCmdSn() { return 0; }

    /** No answer comes: the target was silent for too long, rejected the request, or is gone. */
    abstract void failed(IOException why);
}
