package lunar.initiator.internal.session;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.pdu.InitiatorPdu;
import lunar.iscsi.pdu.TargetPdu;
import lunar.scsi.Lun;

/** Tracks a session's outstanding requests other than SCSI commands. Confined to the event loop's thread. */
final class PendingRequests {
    private static final System.Logger LOG = System.getLogger("lunar.initiator");

    /** Initiator task tags of these requests have this low half, which no task slot has. */
    private static final int TAG = 0x8000;
    private static final int COUNTER_SHIFT = 16;
    private static final int COUNTER_MASK = 0xffff;

    private final Tasks tasks;
    private final String target;
    private final List<PendingRequest> open = new ArrayList<>();
    private int counter;

    PendingRequests(Tasks tasks, String target) {
        this.tasks = tasks;
        this.target = target;
    }

    /** Sends a request. Its PDU is made for a tag, with the session's lock held. */
    void ask(PendingRequest pending, IntFunction<InitiatorPdu> pdu, MemorySegment data) {
        if (!pending.connection.isOpen()) {
            pending.failed(new IOException("the connection to " + target + " has ended"));
            return;
        }
        counter = (counter + 1) & COUNTER_MASK;
        pending.itt = counter << COUNTER_SHIFT | TAG;
        open.add(pending);
        send(pending.connection, () -> pdu.apply(pending.itt), data);
    }

    /** Sends a PDU, which is made with the session's lock held, so that its numbers are the latest. */
    void send(Connection connection, Supplier<InitiatorPdu> pdu, MemorySegment data) {
        tasks.lock();
        try {
            connection.send(pdu.get(), data);
        } finally {
            tasks.unlock();
        }
        tasks.flush(connection);
    }

    /** Passes an answer to its request. */
    void answered(Connection by, TargetPdu pdu, MemorySegment data) throws ProtocolException {
        for (PendingRequest pending : List.copyOf(open)) {
            if (pending.itt == pdu.itt() && pending.connection.equals(by)) {
                if (pending.answered(pdu, data)) {
                    open.remove(pending);
                }
                return;
            }
        }
        LOG.log(System.Logger.Level.DEBUG, "{0} answers no outstanding request", pdu.describe());
    }

    /** Returns the outstanding task management requests that end tasks of a unit. */
    List<PendingRequest> endingTasksOf(Lun lun) {
        return open.stream().filter(pending -> pending.endsTasksOf(lun)).toList();
    }

    /** Removes a request: its answer is not waited for any longer. */
    void forget(PendingRequest pending) {
        open.remove(pending);
    }

    /** Fails the request of a rejected PDU that is not a SCSI command. */
    void rejected(Connection by, int itt, IOException why) {
        for (PendingRequest pending : List.copyOf(open)) {
            if (pending.itt == itt && pending.connection.equals(by) && open.remove(pending)) {
                pending.failed(why);
            }
        }
    }

    /** Fails the requests that have waited too long. */
    void expire(long nowMs) {
        for (PendingRequest pending : List.copyOf(open)) {
            if (pending.deadlineMs <= nowMs && open.remove(pending)) {
                pending.failed(new IOException(
                        target + " did not respond in time to " + pending.name));
            }
        }
    }

    /** Fails the requests of a connection that has ended. */
    void lost(Connection connection, IOException why) {
        for (PendingRequest pending : List.copyOf(open)) {
            if (pending.connection.equals(connection) && open.remove(pending)) {
                pending.failed(why);
            }
        }
    }
}
