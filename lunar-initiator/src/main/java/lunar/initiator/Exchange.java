package lunar.initiator;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.TargetPdu;

/**
 * A question to the target which is not a SCSI command, and waits for its answer: ping, abort, logout, text. Lives
 * on the loop's thread.
 */
abstract class Exchange {
    final String name;
    final long deadlineMs;
    int itt;

    /** @param name what is asked, for messages */
    Exchange(String name, long deadlineMs) {
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

    /** No answer comes: the target was silent for too long, rejected the question, or is gone. */
    abstract void failed(IOException why);
}
