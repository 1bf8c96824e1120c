package lunar.initiator;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import lunar.iscsi.InitiatorPdu;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.TargetPdu;
import lunar.scsi.Lun;

/** The questions of a session that wait for their answers; on the loop's thread. */
final class Questions {
    private static final System.Logger LOG = System.getLogger("lunar.initiator");

    /** Tags of questions have this low half, which no task slot has. */
    private static final int TAG = 0x8000;
    private static final int COUNTER_SHIFT = 16;
    private static final int COUNTER_MASK = 0xffff;

    private final Tasks tasks;
    private final String target;
    private final List<Question> open = new ArrayList<>();
    private int counter;

    Questions(Tasks tasks, String target) {
        this.tasks = tasks;
        this.target = target;
    }

    /** Asks the target something. The PDU is made for a tag, with the session's lock held. */
    void ask(Question question, IntFunction<InitiatorPdu> pdu, MemorySegment data) {
        if (!question.connection.isOpen()) {
            question.failed(new IOException("the connection to " + target + " has ended"));
            return;
        }
        counter = (counter + 1) & COUNTER_MASK;
        question.itt = counter << COUNTER_SHIFT | TAG;
        open.add(question);
        send(question.connection, () -> pdu.apply(question.itt), data);
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

    /** An answer has come. */
    void answered(Connection by, TargetPdu pdu, MemorySegment data) throws ProtocolException {
        for (Question question : List.copyOf(open)) {
            if (question.itt == pdu.itt() && question.connection.equals(by)) {
                if (question.answered(pdu, data)) {
                    open.remove(question);
                }
                return;
            }
        }
        LOG.log(System.Logger.Level.DEBUG, "{0} answers nothing that was asked", pdu.describe());
    }

    /** Returns the questions by which this session has asked for the end of tasks of a unit. */
    List<Question> endingTasksOf(Lun lun) {
        return open.stream().filter(question -> question.endsTasksOf(lun)).toList();
    }

    /** Nobody waits for the answer any more. */
    void forget(Question question) {
        open.remove(question);
    }

    /** One of our PDUs which is not a SCSI command was rejected. */
    void rejected(Connection by, int itt, IOException why) {
        for (Question question : List.copyOf(open)) {
            if (question.itt == itt && question.connection.equals(by) && open.remove(question)) {
                question.failed(why);
            }
        }
    }

    /** Ends those that have waited too long. */
    void expire(long nowMs) {
        for (Question question : List.copyOf(open)) {
            if (question.deadlineMs <= nowMs && open.remove(question)) {
                question.failed(new IOException(
                        target + " did not answer a " + question.name + " in time"));
            }
        }
    }

    /** A connection has ended, and its questions with it. */
    void lost(Connection connection, IOException why) {
        for (Question question : List.copyOf(open)) {
            if (question.connection.equals(connection) && open.remove(question)) {
                question.failed(why);
            }
        }
    }
}
