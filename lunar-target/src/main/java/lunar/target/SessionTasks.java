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
 * Manages the tasks of all connections of a session: their numbering, their order, and their end (RFC 7143 sections
 * 4.2.2.1 and 4.2.2.2). Confined to the thread of the session's event loop.
 */
final class SessionTasks {
    /** A command or request that came before the turn of its CmdSN. */
    private sealed interface Held {
        FullFeature connection();
    }

    private record HeldTask(Task task) implements Held {
        @Override
        public FullFeature connection() { return task.connection(); }
    }

    private record HeldRequest(FullFeature connection, int bytes, Runnable perform)
            implements Held {}

    /** Most data, on the heap, of requests without a task that wait for their turn. */
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

    /** Returns the memory for the commands. */
    CommandMemory memory() { return memory; }

    MissingCommands missing() { return missing; }

    /** Returns all tasks of the session that have not ended. */
    List<Task> all() {
        return tasks.all();
    }

    @Nullable
    Task find(int itt) { return tasks.find(itt); }

    boolean isEmpty() { return tasks.isEmpty(); }

    /** Counts one more immediate command; returns false where it exceeds the limit. */
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

    /** Whether the data of one more request may wait for its turn. */
    boolean mayHold(int bytes) {
        return bytes <= MAX_HELD_BYTES - heldBytes;
    }

    /**
     * Keeps a request until its turn, even if only to be refused then: without it no later CmdSN would ever have its
     * turn. The command window bounds the number of requests.
     *
     * @param bytes data that the request keeps, see {@link #mayHold}
     */
    void hold(FullFeature connection, int cmdSn, int bytes, Runnable perform) {
        heldBytes += bytes;
        held.put(cmdSn, new HeldRequest(connection, bytes, perform));
    }

    /** Continues held commands and requests when their turn has come, each on its own connection. */
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

    /** Ends the numbering of a command, or its count if it is immediate. */
    void finishNumbering(boolean immediate) {
        if (immediate) {
            immediateCount--;
        } else {
            window.finished();
        }
    }

    /** Ends a task: sends its answer, unless it was left behind, and removes it. */
    void ended(Task task) {
        if (task.state == Task.State.LEFT_BEHIND) { // the session has gone on without it
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
     * Has aborted tasks answered once they have ended, since the function that aborted them is rejected (RFC 7143
     * section 11.6.1).
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

    /** Goes on without an aborted task that its device does not end, if the task can be fenced. */
    void leaveBehind(Task task) {
        if (task.leaveBehind()) {
            task.hold(); // the device uses its buffer until it ends the task
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

    /** Ends an aborted task that has not begun; a task that has begun ends by itself. */
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
     * Drops what a connection that is over had held: it was never acknowledged, so the initiator may send it again on
     * another connection (section 7.2.1).
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
