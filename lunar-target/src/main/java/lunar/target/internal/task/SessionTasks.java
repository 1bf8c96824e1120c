package lunar.target.internal.task;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Predicate;
import lunar.iscsi.login.TaskReporting;
import lunar.iscsi.session.CommandWindow;
import lunar.iscsi.spi.EventLoop;
import lunar.scsi.target.Buffers;
import lunar.scsi.target.DeviceServer;
import lunar.scsi.target.Nexus;
import lunar.target.ServerLimits;
import org.jspecify.annotations.Nullable;

/**
 * Manages the tasks of all connections of a session: their numbering, their order, and their end (RFC 7143 sections
 * 4.2.2.1 and 4.2.2.2). Confined to the thread of the session's event loop.
 */
public final class SessionTasks implements TaskContext {
    /** A command or request that arrived before the turn of its CmdSN. */
    private sealed interface Held {
        TaskConnection connection();
    }

    private record HeldTask(Task task) implements Held {
        @Override
        public TaskConnection connection() { return task.connection(); }
    }

    private record HeldRequest(TaskConnection connection, int bytes, Runnable perform)
            implements Held {}

    /** Maximum size of heap data of non-SCSI requests that wait for their turn. */
    private static final int MAX_HELD_BYTES = 1 << 20;

    /**
     * Responses per command of the window that may wait at the response fence: its own, and one of a task management
     * function.
     */
    private static final int ANSWERS_PER_COMMAND = 2;

    private final TaskSession session;
    private final CommandWindow window;
    private final ServerLimits limits;
    private final TaskSets taskSets;
    private final CommandPacer pacer;
    private final CommandMemory memory;
    private final ResponseFence fence;
    private final MissingCommands missing;
    private final TaskAborts aborts;
    private final TaskTable tasks = new TaskTable();
    private final SessionCounters counters = new SessionCounters();
    private final Map<Integer, Held> held = new HashMap<>();
    private int heldBytes;
    private int immediateCount;

    public SessionTasks(TaskSession session, ServerLimits limits, Buffers buffers) {
        this.session = session;
        this.limits = limits;
        window = session.window();
        var quota = new CommandQuota(window, limits,
                session.isDiscovery() ? 0 : session.device().units().size());
        pacer = new CommandPacer(session.loop(), limits.maxTransferBytes());
        taskSets = new TaskSets(quota, counters, pacer);
        memory = new CommandMemory(buffers, quota);
        fence = new ResponseFence(session, limits.abortTimeoutMs(),
                ANSWERS_PER_COMMAND * limits.commandsPerSession());
        missing = new MissingCommands(this, window, session.loop(), limits.abortTimeoutMs());
        aborts = new TaskAborts(this, session.loop(), limits.abortTimeoutMs());
    }

    @Override
    public Nexus nexus() { return session.nexus(); }

    @Override
    public EventLoop loop() { return session.loop(); }

    @Override
    public CommandMemory memory() { return memory; }

    @Override
    public int recoveryLevel() { return session.recoveryLevel(); }

    @Override
    public boolean reportsAborts() {
        return session.login().parameters().taskReporting() == TaskReporting.FAST_ABORT;
    }

    TaskSets taskSets() { return taskSets; }

    /** Changes the limits of the session's commands, also of those that are delayed. Any thread. */
    public void limit(SessionRates rates) {
        pacer.change(rates);
    }

    /** Returns the counters of the session's commands. Any thread. */
    public SessionCounters counters() {
        return counters;
    }

    /** Drops the counters of a unit that is no longer served; see {@link TaskSets#forget}. */
    public void forgetCounts(DeviceServer server) {
        taskSets.forget(server);
    }

    /** Returns the fence that orders the responses of all connections. */
    public ResponseFence fence() {
        return fence;
    }

    MissingCommands missing() { return missing; }

    /** Returns all tasks of the session that have not ended. */
    public List<Task> all() {
        return tasks.all();
    }

    @Nullable
    public Task find(int itt) { return tasks.find(itt); }

    public boolean isEmpty() { return tasks.isEmpty(); }

    /** Counts one more immediate command; returns false if it exceeds the limit. */
    boolean admitImmediate() {
        if (immediateCount == limits.immediateCommandsPerSession()) {
            return false;
        }
        immediateCount++;
        return true;
    }

    void add(Task task) {
        tasks.add(task);
        if (task.state() == TaskState.HELD) {
            held.put(task.cmdSn(), new HeldTask(task));
        }
    }

    /** Whether the data of one more request may wait for its turn. */
    public boolean mayHold(int bytes) {
        return bytes <= MAX_HELD_BYTES - heldBytes;
    }

    /**
     * Keeps a request until its turn, even if only to reject it then: without it no later CmdSN would get its turn. The
     * command window bounds the number of requests.
     *
     * @param bytes size of the data that the request keeps, see {@link #mayHold}
     */
    public void hold(TaskConnection connection, int cmdSn, int bytes, Runnable perform) {
        heldBytes += bytes;
        held.put(cmdSn, new HeldRequest(connection, bytes, perform));
    }

    /** Continues held commands and requests when their turn has come, each on its own connection. */
    public void releaseHeld() {
        while (window.nextIsHeld()) {
            switch (held.remove(window.releaseHeld())) {
                case null -> window.finished(); // aborted before its turn
                case HeldTask(Task task) -> {
                    task.delivered();
                    task.connection().advance(task);
                }
                case HeldRequest(TaskConnection _, int bytes, Runnable perform) -> {
                    heldBytes -= bytes;
                    window.finished();
                    perform.run();
                }
            }
        }
        missing.moved();
    }

    /** Ends the numbering of a command, or its count if it is immediate. */
    void finishNumbering(boolean immediate) {
        if (immediate) {
            immediateCount--;
        } else {
            window.finished();
        }
    }

    @Override
    public void completed(Task task) {
        tasks.remove(task);
        finishNumbering(task.isImmediate());
        fence.answer(task);
        end(task);
        session.endIfDone();
        task.left();
    }

    @Override
    public void letGo(Task task) {
        task.release();
        task.ended();
        TaskSet set = task.set();
        if (set != null) {
            set.letGo();
        }
    }

    private static void end(Task task) {
        task.ended();
        TaskSet set = task.set();
        if (set != null) {
            set.leave(task);
        }
    }

    // --- aborting ---

    /**
     * Aborts tasks of this session.
     *
     * @param marked is given the newly aborted tasks at once
     * @return how many were aborted, once the last of them has ended or was left behind
     */
    public CompletableFuture<Integer> abort(Predicate<Task> which, Consumer<List<Task>> marked) {
        return aborts.abort(which, marked);
    }

    /**
     * Makes aborted tasks be answered after they have ended, because the function that aborted them is rejected (RFC
     * 7143 section 11.6.1).
     */
    void owe(List<Task> aborted) {
        for (Task task : aborted) {
            if (!task.aborted()) { // it had ended before, and was answered
                continue;
            }
            task.owe(true);
            if (task.state().isEnded() && task.endsAborted()) {
                fence.answer(task);
            } else if (task.state() == TaskState.LEFT_BEHIND && task.endsAborted()) {
                task.connection().answerLeftBehind(task);
            }
        }
    }

    /** Detaches an aborted task that its device does not complete, if the task can be fenced. */
    void leaveBehind(Task task) {
        if (task.leaveBehind()) {
            task.hold(); // the device uses its buffer until it ends the task
            tasks.remove(task);
            finishNumbering(task.isImmediate());
            if (task.endsWithoutUnit()) {
                task.connection().answerLeftBehind(task);
            } else {
                task.connection().unanswered(task);
            }
            TaskSet set = task.set();
            if (set != null) {
                set.leaveBehind(task);
            }
            session.endIfDone();
        }
    }

    /** Ends an aborted task that has not begun; a task that has begun is ended by its device server. */
    void endUnbegun(Task task) {
        switch (task.state()) {
            case RECEIVING, WAITING -> task.endUnbegun();
            case HELD -> {
                held.remove(task.cmdSn()); // its CmdSN stays taken: it will not be sent again
                drop(task);
            }
            default -> {
                // the device server has it, or it has ended
            }
        }
    }

    /**
     * Drops held commands of a connection that has ended: they were never acknowledged, so the initiator may retransmit
     * them on another connection (section 7.2.1).
     */
    public void forgetHeld(TaskConnection connection) {
        held.entrySet().removeIf(entry -> {
            if (!entry.getValue().connection().equals(connection)) {
                return false;
            }
            window.forget(entry.getKey());
            switch (entry.getValue()) {
                case HeldTask(Task task) -> drop(task);
                case HeldRequest request -> heldBytes -= request.bytes();
            }
            return true;
        });
    }

    private void drop(Task task) {
        tasks.remove(task);
        task.connection().unanswered(task);
        task.giveBackBuffer();
        end(task);
    }
}
