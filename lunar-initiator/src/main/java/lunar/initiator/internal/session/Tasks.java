package lunar.initiator.internal.session;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import lunar.block.AbortedException;
import lunar.block.DeadlineException;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.iscsi.login.OperationalParameters;
import lunar.iscsi.pdu.R2t;
import lunar.iscsi.session.CommandNumbering;
import lunar.iscsi.spi.EventLoop;
import lunar.iscsi.transfer.BurstRules;
import lunar.scsi.Lun;
import org.jspecify.annotations.Nullable;

/**
 * Manages the SCSI commands of a session: as many task slots as the queue depth, a queue for commands without a free
 * slot, a connection or an open command window, and the numbering. Any thread submits and sends; a command that was
 * sent ends on the event loop's thread.
 */
public final class Tasks {
    /** The only lock of a session. Guards all fields here, those of commands in progress, and sending. */
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final EventLoop loop;
    private final String target;
    private final int commandMs;
    private final BurstRules rules;
    private final int maxSendBytes;
    private final int maxR2ts;
    private final CommandNumbering numbering;
    private final CompletionDispatcher dispatcher;
    private final OpenConnections connections;
    private final CommandSender sender = new CommandSender();
    private final Slots slots;
    private final CommandQueue waiting = new CommandQueue();
    private final List<Command> resting = new ArrayList<>();
    private final CommandPool pool = new CommandPool();
    /** Number of commands that are not with their owners. */
    private int outstanding;
    /** The reason why no commands are accepted any longer. */
    private @Nullable String refusal;
    private @Nullable IOException refusalCause;
    private volatile boolean unanswered;

    /** @param gauge called with each command; null for none */
    Tasks(EventLoop loop, OperationalParameters parameters, CommandNumbering numbering,
            String target, int queueDepth, int commandMs,
            CompletionDispatcher.@Nullable Gauge gauge) {
        this.loop = loop;
        connections = new OpenConnections(loop);
        dispatcher = new CompletionDispatcher(loop, gauge, this::isIdle);
        this.target = target;
        this.commandMs = commandMs;
        this.numbering = numbering;
        rules = BurstRules.of(parameters);
        maxSendBytes = parameters.maxSendDataSegmentLength();
        // A target that recovers requests data again that did not come in time, though they are still queued here.
        maxR2ts = parameters.maxOutstandingR2t()
                + (parameters.errorRecoveryLevel() > 0 ? Command.MAX_SNACKS : 0);
        slots = new Slots(queueDepth);
    }

    void lock() { lock.lock(); }

    void unlock() { lock.unlock(); }

    boolean isLocked() { return lock.isHeldByCurrentThread(); }

    /** Returns the dispatcher of command completions. */
    public CompletionDispatcher dispatcher() {
        return dispatcher;
    }

    /** Returns the commands at the target; with the lock held. */
    Slots slots() { return slots; }

    /** Returns the numbering of commands; with the lock held. */
    CommandNumbering numbering() {
        return numbering;
    }

    // --- connections ---

    /** Returns the present connections. */
    public List<Connection> connections() {
        return connections.all();
    }

    /** Adds a connection, which takes commands from now on. */
    void attach(Connection connection) {
        lock.lock();
        try {
            connections.add(connection);
        } finally {
            lock.unlock();
        }
    }

    /** Removes a connection that has ended. Its commands at the target are lost, until they are moved or end. */
    void detach(Connection connection) {
        lock.lock();
        try {
            connections.remove(connection);
            for (Command command : slots.all()) {
                if (command != null && connection.equals(command.connection)) {
                    command.state = Command.State.LOST;
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** Begins a batch of received PDUs: output of the event loop's thread then waits for {@link #batchEnds}. */
    void batchBegins() {
        connections.batchBegins();
    }

    /** Sends the output that waited for the end of the batch. */
    void batchEnds() {
        startWaiting();
        connections.batchEnds();
    }

    /** Sends queued output, without the lock; in a batch on the event loop's thread {@link #batchEnds} does that. */
    void flush(Connection connection) {
        assert !isLocked() : "sending may end requests, whose owners may take locks";
        connections.flush(connection);
    }

    // --- owners ---

    /** Returns a command to prepare and {@link #submit}. */
    public Command take() {
        Command idle = pool.take();
        return idle != null ? idle : newCommand();
    }

    /** Gives back a command that has ended. */
    public void give(Command command) {
        assert command.state == Command.State.IDLE : command.state;
        command.clear();
        pool.give(command);
    }

    private Command newCommand() {
        return new Command(rules, maxSendBytes, maxR2ts, this::released);
    }

    /** Sends a command, now or when its turn has come; a retry keeps the deadline of the first submission. */
    public void submit(Command command) {
        dispatcher.begins(command);
        boolean refused;
        Connection by = null;
        lock.lock();
        try {
            if (command.deadlineMs == 0) {
                command.deadlineMs = loop.nowMs() + patienceMs(command);
            }
            refused = refuse(command);
            if (!refused) {
                outstanding++;
                dispatcher.joined(command, outstanding);
                by = waiting.isEmpty() && canStart() ? connections.choose() : null;
                if (by != null) {
                    start(command, by);
                } else {
                    enqueue(command);
                }
            }
        } finally {
            lock.unlock();
        }
        if (refused) {
            complete(command);
        } else if (by != null) {
            flush(by);
            dispatcher.sent(command);
        }
    }

    /** Returns the timeout of a command, counted from its submission. */
    int patienceMs(Command command) {
        return command.patienceMs == 0 ? commandMs : command.patienceMs;
    }

    private boolean isIdle() {
        lock.lock();
        try {
            return outstanding == 0;
        } finally {
            lock.unlock();
        }
    }

    /** Submits a command again after a pause, since the target is busy. */
    public void rest(Command command, long delayMs) {
        boolean refused;
        lock.lock();
        try {
            refused = refuse(command);
            if (!refused) {
                outstanding++;
                command.state = Command.State.RESTING;
                resting.add(command);
            }
        } finally {
            lock.unlock();
        }
        if (refused) {
            complete(command);
        } else {
            loop.schedule(() -> rested(command), delayMs);
        }
    }

    private void rested(Command command) {
        lock.lock();
        try {
            if (resting.remove(command)) {
                enqueue(command);
            }
        } finally {
            lock.unlock();
        }
        startWaiting();
    }

    private boolean refuse(Command command) {
        String why = refusal;
        if (why != null) {
            command.failure = new DeviceGoneException(
                    describe(command) + ": " + why, refusalCause);
        }
        return why != null;
    }

    // --- on the way; with the lock held ---

    private boolean canStart() { return slots.hasFree() && numbering.canSend(); }

    private void start(Command command, Connection by) {
        slots.add(command);
        command.cmdSn = numbering.next();
        send(command, by);
    }

    /** Sends a command that has its slot and number; with the lock held. */
    void send(Command command, Connection by) {
        command.state = Command.State.ACTIVE;
        command.resetOutcome();
        command.connection = by;
        by.inFlight++;
        sender.send(command, by);
    }

    private void enqueue(Command command) {
        command.state = Command.State.WAITING;
        waiting.add(command);
    }

    /** Returns the command of a tag, if it is at the target by this connection. */
    @Nullable
    Command find(Connection by, int itt) {
        Command found = slots.find(itt);
        return found != null && by.equals(found.connection) ? found : null;
    }

    /**
     * Removes a command that has ended at the target from its slot.
     *
     * @return whether the caller must dispatch its completion after releasing the lock; otherwise that happens when the
     *        transport has released its buffers
     */
    boolean finish(Command command) {
        slots.remove(command);
        Connection by = command.connection;
        if (by != null) {
            by.inFlight--;
            command.connection = null;
        }
        if (command.pendingTransfers > 0) {
            command.state = Command.State.RELEASING;
            if (by != null) {
                by.withdraw(command.itt);
            }
            return false;
        }
        retire(command);
        return true;
    }

    private void retire(Command command) {
        command.state = Command.State.IDLE;
        outstanding--;
        if (outstanding == 0) {
            changed.signalAll();
            dispatcher.allEnded();
        }
    }

    /** Dispatches the completion of a command that has ended; without the lock. */
    void complete(Command command) {
        dispatcher.tell(command);
    }

    /** Queues the Data-Out that an R2T requests; with the lock held. */
    void answer(Command command, R2t r2t, Connection by) {
        sender.sendDataOut(command, r2t.lun().value(), r2t.ttt(), by);
    }

    // --- events ---

    /** Sends waiting commands, as far as slots and window allow. Flushes, unless a batch does. */
    void startWaiting() {
        boolean started = false;
        lock.lock();
        try {
            while (!waiting.isEmpty() && canStart()) {
                Connection by = connections.choose();
                Command command = by == null ? null : waiting.poll();
                if (by == null || command == null) {
                    break;
                }
                start(command, by);
                started = true;
            }
        } finally {
            lock.unlock();
        }
        if (started) {
            connections.flush();
        }
    }

    /**
     * Records that the transport has released a part of a command's buffers; with the lock held.
     *
     * @return whether the command has waited for that alone: the caller dispatches its completion
     */
    boolean letGo(Command command) {
        command.pendingTransfers--;
        boolean ended = command.pendingTransfers == 0
                && command.state == Command.State.RELEASING;
        if (ended) {
            retire(command);
        }
        return ended;
    }

    /** Records that the transport has released a part of a command's data. */
    void released(Command command) {
        boolean ended;
        lock.lock();
        try {
            ended = letGo(command);
        } finally {
            lock.unlock();
        }
        if (!ended) {
            return;
        }
        if (loop.inLoop()) {
            complete(command);
            return;
        }
        try {
            // A thread that flushes its own command must not run the completions of others.
            loop.execute(() -> complete(command));
        } catch (RejectedExecutionException _) {
            complete(command);
        }
    }

    /** Ends commands whose deadline has passed, and returns those that the target must abort. */
    List<Command> expire(long nowMs) {
        List<Command> late;
        var abort = new ArrayList<Command>();
        lock.lock();
        try {
            for (Command command : slots.all()) {
                if (command != null && command.state == Command.State.ACTIVE
                        && command.deadlineMs <= nowMs) {
                    command.state = Command.State.ABORTING;
                    abort.add(command);
                }
            }
            late = waiting.pollLate(nowMs);
            for (Command each : late) {
                each.failure = new DeadlineException(describe(each) + ": not sent within "
                        + patienceMs(each) + " ms, because the target is busy with other commands");
                retire(each);
            }
        } finally {
            lock.unlock();
        }
        late.forEach(this::complete);
        return abort;
    }

    /** Ends a command with a failure, if it is still at the target under this tag by this connection. */
    void fail(Connection by, int itt, StorageException failure) {
        Command ended = null;
        lock.lock();
        try {
            Command command = find(by, itt);
            if (command != null) {
                command.failure = failure;
                ended = finish(command) ? command : null;
            }
        } finally {
            lock.unlock();
        }
        if (ended != null) {
            complete(ended);
        }
    }

    /**
     * Cancels a command of an owner: it ends immediately if it is not at the target.
     *
     * @return whether it is at the target and must be aborted there
     */
    boolean cancel(Command command, Object owner) {
        lock.lock();
        try {
            if (!owner.equals(command.owner)) {
                return false; // it has ended
            }
            switch (command.state) {
                case WAITING -> {
                    for (Command each : waiting.pollAll()) {
                        if (!each.equals(command)) {
                            waiting.add(each);
                        }
                    }
                }
                case RESTING -> resting.remove(command);
                case ACTIVE -> {
                    command.state = Command.State.ABORTING;
                    return true;
                }
                default -> {
                    return false;
                }
            }
            command.failure = new AbortedException(describe(command) + ": cancelled", null);
            retire(command);
        } finally {
            lock.unlock();
        }
        complete(command);
        return false;
    }

    /** Returns the state of an owner's command; IDLE once it no longer belongs to it. May be called by any thread. */
    Command.State state(Command command, Object owner) {
        lock.lock();
        try {
            return owner.equals(command.owner) ? command.state : Command.State.IDLE;
        } finally {
            lock.unlock();
        }
    }

    /** Resumes a command that the target does not abort. */
    void goOn(Connection by, int itt) {
        lock.lock();
        try {
            Command command = find(by, itt);
            if (command != null && command.state == Command.State.ABORTING) {
                command.state = Command.State.ACTIVE;
            }
        } finally {
            lock.unlock();
        }
    }

    /** Refuses further commands, and ends those that were not sent yet. */
    void refuse(String why, @Nullable IOException cause) {
        end(why, cause, false, false);
    }

    /**
     * Ends all commands, because no connection is left and none will be opened.
     *
     * @param loggedOut whether the target has confirmed the end of the session, and with it of all commands (RFC 7143
     *        section 11.15)
     */
    void lost(String why, @Nullable IOException cause, boolean loggedOut) {
        end(why, cause, true, loggedOut);
    }

    /** Whether the session ended with commands at the target that may still change blocks there. */
    public boolean leftUnanswered() {
        return unanswered;
    }

    private void end(String why, @Nullable IOException cause, boolean sentToo,
            boolean loggedOut) {
        List<Command> ended;
        lock.lock();
        try {
            if (refusal == null) {
                refusal = why;
                refusalCause = cause;
            }
            ended = waiting.pollAll();
            ended.addAll(resting);
            resting.clear();
            for (Command each : ended) {
                each.failure = new DeviceGoneException(describe(each) + ": " + why, cause);
                retire(each);
            }
            if (sentToo) {
                for (Command each : slots.all()) {
                    if (each != null) {
                        String message = describe(each) + ": " + why;
                        each.failure = loggedOut
                                ? new DeviceGoneException(message, cause)
                                : DeviceGoneException.unanswered(message, cause);
                        if (!loggedOut && !each.reads()) {
                            unanswered = true;
                        }
                        if (finish(each)) {
                            ended.add(each);
                        }
                    }
                }
            }
        } finally {
            lock.unlock();
        }
        ended.forEach(this::complete);
    }

    /** Whether a connection has no command at the target. */
    boolean isIdle(Connection connection) {
        lock.lock();
        try {
            return connection.inFlight == 0;
        } finally {
            lock.unlock();
        }
    }

    /** Stops sending new commands over a connection. */
    void drain(Connection connection) {
        lock.lock();
        try {
            connection.draining = true;
        } finally {
            lock.unlock();
        }
    }

    /** Waits until every command is with its owner again. Returns false on timeout. */
    boolean awaitNone(long timeoutMs) throws InterruptedException {
        long left = timeoutMs * 1_000_000;
        lock.lockInterruptibly();
        try {
            while (outstanding > 0 && left > 0) {
                left = changed.awaitNanos(left);
            }
            return outstanding == 0;
        } finally {
            lock.unlock();
        }
    }

    /** Returns a description of a command and its unit, for messages. */
    public String describe(Command command) {
        return command.describe() + " on " + target + "/" + lun(command);
    }

    private static String lun(Command command) { return new Lun(command.lun).toString(); }
}
