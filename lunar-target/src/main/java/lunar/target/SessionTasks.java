package lunar.target;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Predicate;
import lunar.iscsi.CommandWindow;
import org.jspecify.annotations.Nullable;

/**
 * The tasks of a session, whichever connection each has its allegiance to: their numbers, their turn, and their end
 * (RFC 7143 sections 4.2.2.1 and 4.2.2.2). On the session's loop.
 */
final class SessionTasks {
    /** Something with a CmdSN that came before its turn. */
    private sealed interface Held {
        FullFeature connection();
    }

    private record HeldTask(Task task) implements Held {
        @Override
        public FullFeature connection() { return task.connection(); }
    }

    private record HeldRequest(FullFeature connection, int bytes, Runnable perform)
            implements Held {}

    /** Data of requests without a task that wait for their turn, which are kept on the heap. */
    private static final int MAX_HELD_BYTES = 1 << 20;

    private final Session session;
    private final CommandWindow window;
    private final ServerLimits limits;
    private final CommandMemory memory;
    private final MissingCommands missing;
    private final TaskAborts aborts;
    private final TaskTable tasks = new TaskTable();
    private final Map<Integer, Held> held = new HashMap<>();
    private int heldBytes;
    private int immediateCount;

    SessionTasks(Session session, TargetServer server) {
        this.session = session;
        window = session.window();
        limits = server.limits();
        memory = new CommandMemory(server.buffers(), session.taskSets());
        missing = new MissingCommands(this, window, session.loop(), limits.abortTimeoutMs());
        aborts = new TaskAborts(this, session.loop(), limits.abortTimeoutMs());
    }

    /** Memory for the commands. */
    CommandMemory memory() { return memory; }

    MissingCommands missing() { return missing; }

    /** All tasks of the session that have not ended. */
    List<Task> all() { return tasks.all(); }

    @Nullable
    Task find(int itt) { return tasks.find(itt); }

    boolean isEmpty() { return tasks.isEmpty(); }

    /** Whether one more immediate command may be at work; counts it. */
    boolean admitImmediate() {
        if (immediateCount == limits.immediateCommandsPerSession()) {
            return false;
        }
        immediateCount++;
        return true;
    }

    void add(Task task) {
        tasks.add(task);
        if (!task.delivered) {
            held.put(task.cmdSn, new HeldTask(task));
        }
    }

    /** Whether the data of one request more may wait for its turn. */
    boolean mayHold(int bytes) {
        return bytes <= MAX_HELD_BYTES - heldBytes;
    }

    /**
     * Keeps a request until its turn, be it only to be refused then: without it no later number would ever have its
     * turn. The window bounds how many there are.
     *
     * @param bytes data that it keeps, see {@link #mayHold}
     */
    void hold(FullFeature connection, int cmdSn, int bytes, Runnable perform) {
        heldBytes += bytes;
        held.put(cmdSn, new HeldRequest(connection, bytes, perform));
    }

    /** What was held and whose turn has come goes on, on its own connection. */
    void releaseHeld() {
        while (window.nextIsHeld()) {
            switch (held.remove(window.releaseHeld())) {
                case null -> window.finished(); // aborted before its turn
                case HeldTask(Task task) -> {
                    task.delivered = true;
                    if (task.set != null) {
                        task.set.deliver(task);
                    }
                    task.connection().advance(task);
                }
                case HeldRequest(FullFeature _, int bytes, Runnable perform) -> {
                    heldBytes -= bytes;
                    window.finished();
                    perform.run();
                }
            }
        }
        missing.moved();
    }

    /** A non-immediate command is over. */
    void finishNumbering(boolean immediate) {
        if (immediate) {
            immediateCount--;
        } else {
            window.finished();
        }
    }

    /** The device server has ended a task. */
    void ended(Task task) {
        if (task.state == Task.State.LEFT_BEHIND) { // everybody has gone on without it
            task.release();
            task.markEnded();
            if (task.set != null) {
                task.set.letGo();
            }
            return;
        }
        tasks.remove(task);
        finishNumbering(task.immediate);
        session.fence().answer(task);
        task.markEnded();
        if (task.set != null) {
            task.set.leave(task);
        }
        session.endIfDone();
        task.left();
    }

    // --- aborting ---

    /** Aborts tasks; see {@link Session#abort}. */
    CompletableFuture<Integer> abort(Predicate<Task> which, Consumer<List<Task>> marked) {
        return aborts.abort(which, marked);
    }

    /**
     * The function that has aborted tasks is rejected: each is told how it ended, once it has (RFC 7143 section
     * 11.6.1).
     */
    void owe(List<Task> aborted) {
        for (Task task : aborted) {
            if (!task.aborted()) { // it had ended before, and was answered
                continue;
            }
            task.owe(true);
            if (task.state == Task.State.ENDED && task.endsAborted()) {
                session.fence().answer(task);
            } else if (task.state == Task.State.LEFT_BEHIND && task.endsAborted()) {
                task.connection().answerLeftBehind(task);
            }
        }
    }

    /** Goes on without an aborted task that its device does not end, if that can be. */
    void leaveBehind(Task task) {
        if (task.leaveBehind()) {
            task.hold(); // the device has its buffer, until it ends it
            tasks.remove(task);
            finishNumbering(task.immediate);
            if (task.endsWithoutUnit()) {
                task.connection().answerLeftBehind(task);
            }
            if (task.set != null) {
                task.set.leaveBehind(task);
            }
            session.endIfDone();
        }
    }

    /** Ends an aborted task that has not begun; one that has ends by itself. */
    void endUnbegun(Task task) {
        if (task.state == Task.State.WAITING) {
            ended(task);
        } else if (task.state == Task.State.RECEIVING) {
            if (task.delivered) {
                ended(task);
            } else {
                held.remove(task.cmdSn); // its CmdSN stays taken: it will not be sent again
                drop(task);
            }
        }
    }

    /**
     * A connection is over: what it had held was never acknowledged, so the initiator may send it again on another
     * (section 7.2.1).
     */
    void forgetHeld(FullFeature connection) {
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
        task.giveBackBuffer();
        task.markEnded();
        if (task.set != null) {
            task.set.leave(task);
        }
    }
}
