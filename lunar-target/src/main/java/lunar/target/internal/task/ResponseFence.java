package lunar.target.internal.task;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import lunar.iscsi.spi.EventLoop;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.reservation.PersistentReserveOut;
import org.jspecify.annotations.Nullable;

/**
 * Orders responses across the connections of a session where required: a fenced response is sent after the initiator
 * has acknowledged all earlier responses, and later ones only after it has acknowledged the fenced one (RFC 7143
 * section 4.2.2.3). Pings an initiator that is slow to acknowledge, and waits for a bounded time only; if too many
 * responses wait, all are sent in order of arrival. Confined to the event loop's thread.
 */
public final class ResponseFence {
    /** A connection and its first StatSN that need not be acknowledged. */
    private record Mark(TaskConnection connection, int statSn) {
        boolean isPassed() { return !connection.isOpen() || connection.hasAcknowledged(statSn); }
    }

    private record Answer(TaskConnection connection, boolean fenced, Runnable send) {}

    private final TaskSession session;
    private final long boundMs;
    private final int maxWaiting;
    private final Deque<Answer> waiting = new ArrayDeque<>();
    private final List<Mark> marks = new ArrayList<>();
    private EventLoop.Timer timer = () -> {};
    private @Nullable Answer current;
    private boolean up;

    /**
     * @param boundMs time for the initiator to acknowledge
     * @param maxWaiting maximum number of waiting responses
     */
    ResponseFence(TaskSession session, long boundMs, int maxWaiting) {
        this.session = session;
        this.boundMs = boundMs;
        this.maxWaiting = maxWaiting;
    }

    /** Whether answers have to wait. */
    boolean isUp() { return up; }

    /** Sends the outcome of a task, in order. */
    void answer(Task task) {
        if (isFenced(task)) {
            raise(task.connection(), () -> task.connection().answer(task)); // the task may be reassigned by then
        } else if (up) {
            pass(task.connection(), () -> task.connection().answer(task));
        } else {
            task.connection().answer(task);
        }
    }

    /** Whether the outcome needs a fence: a unit attention, and PREEMPT AND ABORT. */
    private static boolean isFenced(Task task) {
        Sense sense = task.outcome().sense();
        if (sense != null) {
            return sense.key() == SenseKey.UNIT_ATTENTION;
        }
        return task.cdbBytes().get(JAVA_BYTE, 0) == PersistentReserveOut.OPCODE
                && (task.cdbBytes().get(JAVA_BYTE, 1)
                        & 0x1f) == PersistentReserveOut.PREEMPT_AND_ABORT;
    }

    /** Sends a response at once, or when the fence is down. */
    public void pass(TaskConnection connection, Runnable send) {
        if (up) {
            keep(new Answer(connection, false, send));
        } else {
            send.run();
        }
    }

    /** Sends a response after all earlier ones are acknowledged, and holds later ones until it is acknowledged. */
    public void raise(TaskConnection connection, Runnable send) {
        if (up) {
            keep(new Answer(connection, true, send));
        } else if (session.taskConnections().size() < 2) {
            send.run(); // StatSN provides the order
        } else {
            begin(new Answer(connection, true, send));
        }
    }

    /** Advances the fence after an acknowledgement or the end of a connection. */
    public void look() {
        if (up && marks.stream().allMatch(Mark::isPassed)) {
            advance();
        }
    }

    private void keep(Answer answer) {
        waiting.add(answer);
        if (waiting.size() > maxWaiting) {
            giveUp();
        }
    }

    /** Sends all responses, fenced or not: the initiator does not acknowledge, so the order cannot be ensured. */
    private void giveUp() {
        timer.cancel();
        marks.clear();
        up = false;
        Answer fenced = current;
        current = null;
        if (fenced != null) {
            fenced.send.run();
        }
        while (!waiting.isEmpty()) {
            waiting.remove().send.run();
        }
    }

    private void begin(Answer answer) {
        up = true;
        current = answer;
        await(session.taskConnections());
    }

    /** Waits until all answers sent on these connections are acknowledged. */
    private void await(List<? extends TaskConnection> connections) {
        marks.clear();
        for (TaskConnection connection : connections) {
            var mark = new Mark(connection, connection.nextStatSn());
            if (!mark.isPassed()) {
                marks.add(mark);
                connection.ping();
            }
        }
        timer.cancel();
        if (marks.isEmpty()) {
            advance();
        } else {
            timer = session.loop().schedule(() -> {
                marks.clear();
                advance();
            }, boundMs);
        }
    }

    private void advance() {
        timer.cancel();
        Answer fenced = current;
        if (fenced != null) {
            current = null;
            fenced.send.run();
            await(List.of(fenced.connection));
            return;
        }
        up = false;
        while (!up && !waiting.isEmpty()) {
            Answer next = waiting.remove();
            if (next.fenced && session.taskConnections().size() > 1) {
                begin(next);
            } else {
                next.send.run();
            }
        }
    }
}
