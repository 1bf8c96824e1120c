package lunar.initiator;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import lunar.block.DeadlineException;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.iscsi.BurstRules;
import lunar.iscsi.CommandNumbering;
import lunar.iscsi.OperationalParameters;
import lunar.iscsi.spi.EventLoop;
import lunar.scsi.Lun;
import org.jspecify.annotations.Nullable;

/**
 * The SCSI commands of a session: as many task slots as the queue is deep, a queue for what finds no slot or a
 * closed command window, and the numbering. Any thread submits and sends; a command that was sent ends on the
 * loop's thread.
 *
 * <p>An Initiator Task Tag is the number of a slot with a generation above it, so that finding a task is an array
 * access and a late PDU for an earlier task of the slot is told from one for the present.
 */
final class Tasks {
    private static final int SLOT_MASK = 0xffff;
    private static final int GENERATION_SHIFT = 16;

    /** The one lock of a session. Guards all fields here, those of commands on their way, and what is sent. */
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Connection connection;
    private final EventLoop loop;
    private final String target;
    private final int commandMs;
    private final BurstRules rules;
    private final int maxSendBytes;
    private final CommandNumbering numbering;

    private final @Nullable Command[] slots;
    private final int[] generations;
    private final int[] free;
    private int freeCount;
    private final CommandQueue waiting = new CommandQueue();
    private final List<Command> resting = new ArrayList<>();
    private final CommandPool pool = new CommandPool();
    /** Commands which are not with their owners. */
    private int outstanding;
    private int active;
    /** Why nothing is taken any more. */
    private @Nullable String refusal;
    private @Nullable IOException refusalCause;

    Tasks(Connection connection, OperationalParameters parameters, CommandNumbering numbering,
            String target, int queueDepth, int commandMs) {
        this.connection = connection;
        this.loop = connection.loop();
        this.target = target;
        this.commandMs = commandMs;
        this.numbering = numbering;
        rules = new BurstRules(parameters.firstBurstLength(), parameters.maxBurstLength(),
                parameters.maxOutstandingR2t(), parameters.initialR2t(),
                parameters.immediateData(), parameters.dataPduInOrder(),
                parameters.dataSequenceInOrder());
        maxSendBytes = parameters.maxSendDataSegmentLength();
        slots = new Command[queueDepth];
        generations = new int[queueDepth];
        free = new int[queueDepth];
        for (int i = 0; i < queueDepth; i++) {
            free[i] = queueDepth - 1 - i;
            give(newCommand());
        }
        freeCount = queueDepth;
    }

    void lock() { lock.lock(); }

    void unlock() { lock.unlock(); }

    boolean isLocked() { return lock.isHeldByCurrentThread(); }

    /** Numbering of commands; with the lock held. */
    CommandNumbering numbering() {
        return numbering;
    }

    // --- owners ---

    /** A command to prepare and {@link #submit}. */
    Command take() {
        Command idle = pool.take();
        return idle != null ? idle : newCommand();
    }

    /** Gives back a command that has ended. */
    void give(Command command) {
        assert command.state == Command.State.IDLE : command.state;
        command.clear();
        pool.give(command);
    }

    private Command newCommand() { return new Command(this, rules, maxSendBytes); }

    /** Sends a command, now or when its turn has come; a second time under the deadline of the first. */
    void submit(Command command) {
        boolean refused;
        boolean started = false;
        lock.lock();
        try {
            if (command.deadlineMs == 0) {
                command.deadlineMs = loop.nowMs() + commandMs;
            }
            refused = refuse(command);
            if (!refused) {
                outstanding++;
                started = waiting.isEmpty() && canStart();
                if (started) {
                    start(command);
                } else {
                    enqueue(command);
                }
            }
        } finally {
            lock.unlock();
        }
        if (refused) {
            command.end();
        } else if (started) {
            connection.flushUnlessInBatch();
        }
    }

    /** Submits a command again after a while, since the target is busy. */
    void rest(Command command, long delayMs) {
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
            command.end();
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

    private boolean canStart() { return freeCount > 0 && numbering.canSend(); }

    private void start(Command command) {
        int slot = free[--freeCount];
        int generation = (generations[slot] + 1) & SLOT_MASK;
        generations[slot] = generation;
        command.slot = slot;
        command.itt = generation << GENERATION_SHIFT | slot;
        command.cmdSn = numbering.next();
        command.state = Command.State.ACTIVE;
        command.resetOutcome();
        slots[slot] = command;
        active++;
        connection.sendCommand(command);
    }

    private void enqueue(Command command) {
        command.state = Command.State.WAITING;
        waiting.add(command);
    }

    /** The command of a tag, if it is at the target. */
    @Nullable
    Command find(int itt) {
        int slot = itt & SLOT_MASK;
        Command found = slot < slots.length ? slots[slot] : null;
        return found != null && found.itt == itt ? found : null;
    }

    /**
     * Takes a command that has ended at the target off its slot.
     *
     * @return whether the caller is to tell its end, once the lock is free; else the transport's release does
     */
    boolean finish(Command command) {
        slots[command.slot] = null;
        free[freeCount++] = command.slot;
        active--;
        if (command.pendingSends > 0) {
            command.state = Command.State.RELEASING;
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
        }
    }

    // --- events ---

    /** Sends what waits, as far as slots and window allow. Flushes, unless a batch does. */
    void startWaiting() {
        boolean started = false;
        lock.lock();
        try {
            while (canStart()) {
                Command command = waiting.poll();
                if (command == null) {
                    break;
                }
                start(command);
                started = true;
            }
        } finally {
            lock.unlock();
        }
        if (started) {
            connection.flushUnlessInBatch();
        }
    }

    /** The transport has let go of a part of a command's data. */
    void released(Command command) {
        boolean ended;
        lock.lock();
        try {
            command.pendingSends--;
            ended = command.pendingSends == 0 && command.state == Command.State.RELEASING;
            if (ended) {
                retire(command);
            }
        } finally {
            lock.unlock();
        }
        if (!ended) {
            return;
        }
        if (loop.inLoop()) {
            command.end();
            return;
        }
        try {
            // A thread that flushes its own command must not run the completions of others.
            loop.execute(command::end);
        } catch (RejectedExecutionException _) {
            command.end();
        }
    }

    /** Ends what has waited too long, and returns the commands that the target is to abort. */
    List<Command> expire(long nowMs) {
        List<Command> late;
        var abort = new ArrayList<Command>();
        lock.lock();
        try {
            for (Command command : slots) {
                if (command != null && command.state == Command.State.ACTIVE
                        && command.deadlineMs <= nowMs) {
                    command.state = Command.State.ABORTING;
                    abort.add(command);
                }
            }
            late = waiting.pollLate(nowMs);
            for (Command each : late) {
                each.failure = new DeadlineException(describe(each) + ": not sent within "
                        + commandMs + " ms, since the target is busy with others");
                retire(each);
            }
        } finally {
            lock.unlock();
        }
        late.forEach(Command::end);
        return abort;
    }

    /** Ends a command with a failure, if it is still at the target under this tag. */
    void fail(int itt, StorageException failure) {
        Command ended = null;
        lock.lock();
        try {
            Command command = find(itt);
            if (command != null) {
                command.failure = failure;
                ended = finish(command) ? command : null;
            }
        } finally {
            lock.unlock();
        }
        if (ended != null) {
            ended.end();
        }
    }

    /** Takes no more commands, and ends those that were not sent yet. */
    void refuse(String why, @Nullable IOException cause) {
        end(why, cause, false);
    }

    /** The connection is gone: ends every command. */
    void lost(String why, @Nullable IOException cause) {
        end(why, cause, true);
    }

    private void end(String why, @Nullable IOException cause, boolean sentToo) {
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
                for (Command each : slots) {
                    if (each != null) {
                        each.failure = new DeviceGoneException(describe(each) + ": " + why, cause);
                        if (finish(each)) {
                            ended.add(each);
                        }
                    }
                }
            }
        } finally {
            lock.unlock();
        }
        ended.forEach(Command::end);
    }

    /** Whether no command is at the target. */
    boolean isIdle() {
        lock.lock();
        try {
            return active == 0;
        } finally {
            lock.unlock();
        }
    }

    /** Waits until every command is with its owner again. Returns whether that came about. */
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

    /** What a command is and where, for messages. */
    String describe(Command command) {
        return command.describe() + " on " + target + "/" + lun(command);
    }

    private static String lun(Command command) { return new Lun(command.lun).toString(); }
}
