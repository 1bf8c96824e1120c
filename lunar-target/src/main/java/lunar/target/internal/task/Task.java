package lunar.target.internal.task;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.iscsi.pdu.CommandHeader;
import lunar.iscsi.pdu.Residual;
import lunar.iscsi.pdu.TaskAttribute;
import lunar.iscsi.spi.Transport;
import lunar.iscsi.transfer.BurstRules;
import lunar.iscsi.transfer.DataOutResult;
import lunar.iscsi.transfer.WriteTransfer;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Cdb;
import lunar.scsi.Lun;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.Status;
import lunar.scsi.target.Buffers;
import lunar.scsi.target.DeviceServer;
import lunar.scsi.target.Nexus;
import lunar.scsi.target.ScsiTask;
import org.jspecify.annotations.Nullable;

/**
 * A SCSI command, from its PDU to its response (SAM-5 section 4.7.4), in a {@link TaskState}. Its parts do the work:
 * {@link TaskCommand} holds the command, {@link DataOutPhase} receives data-out, {@link TaskData} holds the data
 * buffers, {@link Execution} runs the command outside the event loop, {@link AbortState} records an abort,
 * {@link TaskOutcome} holds the result.
 *
 * <p>Confined to the event loop's thread, and owned by its session, except between {@link DeviceServer#execute} and its
 * end: then the device server may access data buffers and immutable state on its own thread; the outcome and all
 * changes of state are made on the event loop's thread.
 *
 * <p>A successful READ or WRITE is reused for a later command, so that these allocate nothing: after it has ended, its
 * response is handed over and the transport has released its data. Other tasks are not reused, because an abort, a
 * background copy, or a response kept for recovery may still refer to them. Reuse relies on devices to end a request
 * once and not to access it afterwards.
 */
public final class Task implements ScsiTask, Transport.Release {
    private static final System.Logger LOG = System.getLogger("lunar.target");
    private static final Sense INTERNAL_FAILURE = Sense.of(SenseKey.HARDWARE_ERROR,
            AdditionalSense.INTERNAL_TARGET_FAILURE);

    private final TaskContext context;
    private TaskConnection connection;
    private TaskState state = TaskState.IDLE;
    private final DataOutPhase out;
    private final TaskData data;
    private final Execution execution;
    private final AbortState abort = new AbortState();

    private final TaskCommand command = new TaskCommand();
    private final TaskOutcome outcome = new TaskOutcome();
    private DeviceServer server;

    /** The task set of its nexus and unit; null for a command that was declined. */
    private @Nullable TaskSet set;
    private TaskAttribute attribute = TaskAttribute.SIMPLE;
    private int priority;
    private TaskSet.@Nullable Rank rank;
    private final CommandPacer.Charge charge = new CommandPacer.Charge(this);
    private @Nullable List<Runnable> whenEnded;

    /** Number of Data-In PDUs that the transport has not released, plus other holders of the buffer. */
    private int holds;
    private long beganNanos;
    /** Null if no recording of commands is running. */
    private @Nullable CommandEvent event;

    /** @param rules the negotiated rules for the data of the commands of the connection */
    Task(TaskContext context, TaskConnection connection, BurstRules rules, DeviceServer server) {
        this.context = context;
        this.connection = connection;
        this.server = server;
        out = new DataOutPhase(rules, context.recoveryLevel() > 0);
        data = new TaskData(context.memory());
        execution = new Execution(this, context.loop());
    }

    /** Initializes the task for a new command; resets all state of the previous one. */
    void begin(CommandHeader header, Lun to, DeviceServer by, boolean isDelivered, long nowMs) {
        become(isDelivered ? TaskState.RECEIVING : TaskState.HELD);
        command.begin(header, to);
        server = by;
        out.clear(command.expectedOutBytes(), nowMs);
        data.clear(isBidirectional());
        execution.clear();
        abort.clear();
        outcome.clear();
        set = null;
        attribute = TaskAttribute.SIMPLE;
        priority = 0;
        rank = null;
        charge.clear();
        whenEnded = null;
        holds = 0;
        beganNanos = System.nanoTime();
        event = CommandEvent.begun();
    }

    TaskState state() { return state; }

    private void become(TaskState next) {
        if (!state.mayBecome(next)) {
            throw new IllegalStateException(
                    "task " + Integer.toHexString(itt()) + " goes from " + state + " to " + next);
        }
        state = next;
    }

    // --- the command ---

    /** Returns the initiator task tag. */
    int itt() { return command.itt(); }

    int cmdSn() { return command.cmdSn(); }

    /** Returns the operation code. */
    int opcode() { return command.opcode(); }

    /** Returns when the command has arrived, by {@link System#nanoTime}. */
    long beganNanos() {
        return beganNanos;
    }

    boolean isImmediate() { return command.isImmediate(); }

    /** Whether the command is bidirectional. */
    boolean isBidirectional() {
        return command.isBidirectional();
    }

    /** Returns the expected data transfer length from the device; 0 for a command that does not read. */
    @Override
    public int expectedInBytes() { return command.expectedInBytes(); }

    @Override
    public Nexus nexus() { return context.nexus(); }

    @Override
    public Lun lun() { return command.lun(); }

    @Override
    public DeviceServer server() { return server; }

    @Override
    public MemorySegment cdbBytes() { return command.cdbBytes(); }

    @Override
    public int expectedOutBytes() { return command.expectedOutBytes(); }

    @Override
    public boolean declaresDataOut() { return command.writes(); }

    @Override
    public Cdb cdb() { return command.cdb(); }

    @Override
    public boolean isPlain() { return command.isPlain(); }

    @Override
    public void accept(Cdb decoded, long dataOutBytes) {
        command.accept(decoded);
        out.want(dataOutBytes);
    }

    @Override
    public void acceptPlain(long dataOutBytes) {
        command.acceptPlain();
        out.want(dataOutBytes);
    }

    @Override
    public void refuse(Sense why) { out.refuse(why); }

    // --- its allegiance and its place in a task set ---

    /** Returns the connection that the task has its allegiance to. */
    public TaskConnection connection() {
        return connection;
    }

    /** Changes the allegiance to a connection of the same session (RFC 7143 section 7.2.2). */
    void reassign(TaskConnection to) {
        connection = to;
        out.reassigned(to.heardMs());
    }

    /** Adds the task to a set, which lends it memory; {@link TaskSet#deliver} places it there. */
    void join(TaskSet to, TaskAttribute with, int commandPriority) {
        set = to;
        attribute = with;
        priority = commandPriority;
        data.lendFor(to.usage());
    }

    TaskAttribute attribute() { return attribute; }

    /** Returns the command priority (SAM-5 section 8.7); 0 is no priority. */
    int priority() {
        return priority;
    }

    /** Returns its task set; null for a command that was declined. */
    @Nullable
    TaskSet set() { return set; }

    /** Returns its place in the set; null before its turn by CmdSN. */
    TaskSet.@Nullable Rank rank() {
        return rank;
    }

    void place(TaskSet.Rank in) { rank = in; }

    /** Returns what the limits of its session charge it. */
    CommandPacer.Charge charge() {
        return charge;
    }

    /** Continues a held task when its turn by CmdSN has come. */
    void delivered() {
        become(TaskState.RECEIVING);
        if (set != null) {
            set.deliver(this);
        }
    }

    /** Waits for the tasks before it in its set, or for the limits of its session. */
    void await() {
        become(TaskState.WAITING);
    }

    // --- its data ---

    /** Starts the data phase. Without memory the data is discarded, and the task ends with BUSY. */
    DataOutResult receive(int immediateBytes, boolean isFinal) {
        int expected = command.expectedOutBytes(); // negative beyond 2 GiB: refused, no data are requested
        if (expected > 0 && out.isWanted() && !data.ensure(expected)) {
            out.decline(Status.BUSY);
        }
        return command.writes() || immediateBytes > 0
                ? out.begin(immediateBytes, isFinal || !command.writes())
                : DataOutResult.COMPLETE;
    }

    /** Returns the data-out and the verdict on the command. */
    DataOutPhase out() { return out; }

    /** Returns the transfer of the data-out. */
    WriteTransfer transfer() { return out.transfer(); }

    /** Returns the memory for data-out at an offset; NULL if the data is to be discarded. */
    MemorySegment destination(int offset, int length) {
        return !state.takesData() || offset < 0 || length > command.expectedOutBytes() - offset
                ? MemorySegment.NULL
                : data.destination(offset, length);
    }

    TaskData data() { return data; }

    /**
     * Ends the filling of its buffer, complete or not; a task that ended meanwhile gives its buffers back now, unless
     * the transport still sends from them.
     */
    void filled() {
        data.endFilling();
        if (state.isEnded() && holds == 0) {
            data.giveBack();
        }
    }

    @Override
    public MemorySegment dataOut() { return data.dataOut(out.neededBytes()); }

    @Override
    public @Nullable MemorySegment roomForDataIn(int bytes) { return data.roomForDataIn(bytes); }

    @Override
    public boolean transferDataIn(BlockDevice from, long offsetBytes) {
        boolean possible = !isBidirectional() && connection.transfers();
        if (possible) {
            data.transferFrom(from, offsetBytes);
        }
        return possible;
    }

    @Override
    public Buffers.@Nullable Buffer borrow(int bytes) { return data.borrow(bytes); }

    @Override
    public void giveBack(Buffers.Buffer borrowed) { data.giveBack(borrowed); }

    // --- its execution ---

    /** Has the device server execute the command, or ends it if it was refused or declined. */
    void execute() {
        Sense refusal = out.refusal();
        Status declined = out.declined();
        if (refusal != null) {
            complete(Status.CHECK_CONDITION, refusal, 0);
        } else if (declined != null) {
            complete(declined, null, 0);
        } else {
            become(TaskState.EXECUTING);
            charge.begun();
            execution.execute(server);
        }
    }

    @Override
    public BlockRequest request() { return execution.request(); }

    @Override
    public void submit(BlockDevice device, Ending then) { execution.submit(device, then); }

    @Override
    public void submitPiece(BlockDevice device, Ending then) {
        execution.submitPiece(device, then);
    }

    @Override
    public void work(Callable<Consumer<ScsiTask>> blocking) { execution.work(blocking); }

    @Override
    public void work(Executor executor, Callable<Consumer<ScsiTask>> blocking) {
        execution.work(executor, blocking);
    }

    @Override
    public void workBriefly(Executor executor, Callable<Consumer<ScsiTask>> blocking) {
        execution.workBriefly(executor, blocking);
    }

    @Override
    public void good() { end(Status.GOOD, null, 0); }

    @Override
    public void good(int dataIn) { end(Status.GOOD, null, dataIn); }

    @Override
    public void good(byte[] parameterData, long allocationLength) {
        int length = (int) Math.min(parameterData.length, allocationLength);
        MemorySegment room = roomForDataIn(length);
        if (room == null) {
            end(Status.BUSY, null, 0);
            return;
        }
        MemorySegment.copy(MemorySegment.ofArray(parameterData), 0, room, 0, length);
        good(length);
    }

    @Override
    public void checkCondition(Sense why) { end(Status.CHECK_CONDITION, why, 0); }

    @Override
    public void checkCondition(Sense why, int dataIn) { end(Status.CHECK_CONDITION, why, dataIn); }

    @Override
    public void end(Status with) { end(with, null, 0); }

    private void end(Status with, @Nullable Sense why, int dataIn) {
        switch (state) {
            case EXECUTING -> complete(with, why, dataIn);
            case LEFT_BEHIND -> context.letGo(this); // it may have been answered
            default -> LOG.log(System.Logger.Level.ERROR,
                    "command {0} of LUN {1} ended twice; internal error",
                    command.name(), lun());
        }
    }

    private void complete(Status with, @Nullable Sense why, int dataIn) {
        outcome.set(with, why, dataIn);
        become(TaskState.COMPLETED);
        context.completed(this);
    }

    /** Ends the command after an internal error, which must affect nothing else. */
    void failed(Throwable bug) {
        LOG.log(System.Logger.Level.ERROR,
                "internal error in command " + command.name() + " of LUN " + lun(), bug);
        if (state.isAtDevice()) {
            checkCondition(INTERNAL_FAILURE);
        }
    }

    // --- its abort ---

    @Override
    public boolean aborted() { return abort.isAborted(); }

    @Override
    public void whenAborted(Runnable what) { abort.whenAborted(what); }

    /** Marks the task aborted. On the event loop's thread. */
    void abort() { abort.abort(); }

    /** Records that it is aborted because its unit is removed. */
    public void withdraw() {
        abort.withdraw();
    }

    /** Sets whether the aborted task is answered nevertheless: the function that aborted it was rejected. */
    void owe(boolean isOwed) {
        abort.owe(isOwed);
    }

    /**
     * Ends an aborted task that the device server does not have. Other tasks are ended by the device server or detached
     * by {@link #leaveBehind}.
     */
    void endUnbegun() {
        become(TaskState.COMPLETED);
        context.completed(this);
    }

    /**
     * Detaches an aborted task that the device has not completed: fences the blocks that it may still change. Returns
     * false if they are not known.
     */
    boolean leaveBehind() {
        if (state != TaskState.EXECUTING || !aborted() || !execution.fence()) {
            return false;
        }
        become(TaskState.LEFT_BEHIND);
        reportEnd();
        return true;
    }

    /**
     * Whether the task was aborted because its unit was removed and has not been answered. Then its outcome reports
     * that, unless an Asynchronous Message reports the abort (RFC 7143 section 4.2.3.4).
     */
    boolean endsWithoutUnit() {
        return !context.reportsAborts() && endsWith(abort.withoutUnit());
    }

    /**
     * Whether the task was aborted by a function that was rejected, and has not been answered. Then its outcome becomes
     * ABORTED COMMAND.
     */
    boolean endsAborted() { return endsWith(abort.owed()); }

    private boolean endsWith(@Nullable Sense why) {
        if (why == null || outcome.isAnswered()) {
            return false;
        }
        outcome.set(Status.CHECK_CONDITION, why, 0);
        return true;
    }

    // --- its outcome and its answer ---

    /** Returns the status, sense and data-in that the command has ended with. */
    TaskOutcome outcome() {
        return outcome;
    }

    /** Returns by how much the CDB needs more data-out than expected, where that has ended the command. */
    Residual overflow() {
        return DATA_OUT_TOO_SHORT.equals(outcome.sense()) ? out.overflow() : Residual.NONE;
    }

    /** Keeps the buffer until {@link #release}. */
    void hold() { holds++; }

    /** Releases one hold on the buffer: the transport is done with a Data-In PDU, or the holder with the task. */
    @Override
    public void release() {
        if (!context.loop().inLoop()) {
            context.loop().execute(this::release);
        } else if (--holds == 0) {
            giveBackBuffer();
            retire();
        }
    }

    /** Records that its whole response has been handed over; releases the hold taken meanwhile. */
    void answered() {
        outcome.answered();
        release();
    }

    /** Gives the buffer back, unless the transport is filling it. */
    void giveBackBuffer() {
        data.giveBack();
    }

    // --- its end ---

    /** Registers an action to run on the event loop's thread when the task has ended; runs it at once if it has. */
    void whenEnded(Runnable what) {
        if (state.isEnded() || state == TaskState.LEFT_BEHIND) {
            what.run();
            return;
        }
        if (whenEnded == null) {
            whenEnded = new ArrayList<>();
        }
        whenEnded.add(what);
    }

    /** Ends a task that is completed, dropped, or finally completed by its device. */
    void ended() {
        become(TaskState.ENDED);
        execution.ended(server);
        reportEnd();
    }

    /** Records the end of the command for a recording that wants it. */
    void record() {
        CommandEvent mine = event;
        event = null;
        if (mine == null || !mine.shouldCommit()) {
            return;
        }
        mine.command = command.name();
        mine.target = nexus().port().targetName();
        mine.lun = lun().toString();
        mine.initiator = nexus().initiatorName();
        if (aborted()) {
            mine.status = "aborted";
        } else {
            Sense sense = outcome.sense();
            mine.status = outcome.status().toString();
            mine.senseKey = sense == null ? "" : sense.key().toString();
            mine.dataIn = Math.min(outcome.dataInBytes(), expectedInBytes());
            mine.dataOut = out.neededBytes();
        }
        mine.commit();
    }

    private void reportEnd() {
        if (whenEnded != null) {
            whenEnded.forEach(Runnable::run);
            whenEnded = null;
        }
    }

    /** Records that the session has removed it. */
    void left() {
        become(TaskState.GONE);
        retire();
    }

    /** Offers the task for reuse, if nothing can refer to it any longer. */
    private void retire() {
        if (state == TaskState.GONE && command.isPlain() && outcome.isAnswered() && holds == 0
                && outcome.status() == Status.GOOD && !aborted() && context.recoveryLevel() == 0
                && !data.isFilling() && data.isEmpty()) {
            become(TaskState.IDLE);
            set = null;
            rank = null;
            data.clear(false);
            execution.clear(); // otherwise it would keep memory of others reachable
            connection.reuse(this);
        }
    }
}
