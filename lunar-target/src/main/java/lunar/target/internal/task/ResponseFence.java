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
 * Keeps answers in order over the connections of a session where the order matters: a fenced answer is sent when the
 * initiator has acknowledged all answers before, and the next ones only when it has acknowledged that one (RFC 7143
 * section 4.2.2.3). Pings an initiator that is slow to acknowledge, and waits for it only for a bounded time; where too
 * many answers wait, they are all sent in the order they came. Confined to the event loop's thread.
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
     * @param boundMs how long an initiator has to acknowledge
     * @param maxWaiting most answers that may wait for that
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
            raise(task.connection(), () -> task.connection().answer(task)); // it may have been reassigned by then
        } else if (up) {
            pass(task.connection(), () -> task.connection().answer(task));
        } else {
            task.connection().answer(task);
        }
    }

    /** Whether the outcome concerns all answers that follow: a unit attention, and PREEMPT AND ABORT. */
    private static boolean isFenced(Task task) {
        Sense sense = task.outcome().sense();
        if (sense != null) {
            return sense.key() == SenseKey.UNIT_ATTENTION;
        }
        return task.cdbBytes().get(JAVA_BYTE, 0) == PersistentReserveOut.OPCODE
                && (task.cdbBytes().get(JAVA_BYTE, 1)
                        & 0x1f) == PersistentReserveOut.PREEMPT_AND_ABORT;
    }

    /** Sends an answer at once, or when the fence is down. */
    public void pass(TaskConnection connection, Runnable send) {
        if (up) {
            keep(new Answer(connection, false, send));
        } else {
            send.run();
        }
    }

    /** Sends an answer when all before it are acknowledged, and then no other until it is acknowledged too. */
    public void raise(TaskConnection connection, Runnable send) {
        if (up) {
            keep(new Answer(connection, true, send));
        } else if (session.taskConnections().size() < 2) {
            send.run(); // StatSN gives the order
        } else {
            begin(new Answer(connection, true, send));
        }
    }

    /** Advances the fence when a connection has acknowledged something, or is over. */
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

    /** Sends everything, fenced or not: the initiator acknowledges nothing, so that the order cannot be kept. */
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
