package lunar.initiator.internal.session;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.pdu.TargetPdu;
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
     * @param connection carries the request and its answer
     * @param name describes the request, for messages
     */
    PendingRequest(Connection connection, String name, long deadlineMs) {
        this.connection = connection;
        this.name = name;
        this.deadlineMs = deadlineMs;
    }

    /**
     * Handles an answer.
     *
     * @param data its data segment; valid during the call
     * @return whether this was the last answer
     */
    abstract boolean answered(TargetPdu pdu, MemorySegment data) throws ProtocolException;

    /**
     * Whether the request, when the target performs it, ends tasks of a unit: those before {@link #beforeCmdSn}. The
     * target may report that before it answers (RFC 7143 section 11.9.1, AsyncEvent 5).
     */
    boolean endsTasksOf(Lun lun) { return false; }

    /** Returns the CmdSN of the first command that it does not affect. */
    int beforeCmdSn() {
        return 0;
    }

    /** Called when the request fails: the target has not responded in time, has rejected it, or is gone. */
    abstract void failed(IOException why);
}
