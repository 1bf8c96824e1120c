package lunar.target;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.iscsi.CommandHeader;
import lunar.iscsi.DataOutResult;
import lunar.iscsi.Residual;
import lunar.iscsi.ScsiCommand;
import lunar.iscsi.TaskAttribute;
import lunar.iscsi.TaskReporting;
import lunar.iscsi.WriteTransfer;
import lunar.iscsi.spi.Transport;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Cdb;
import lunar.scsi.CdbDecoder;
import lunar.scsi.InvalidCdbException;
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
 * A SCSI command, from its PDU to its response (SAM-5 section 4.7.4). Confined to the event loop's thread, except
 * between {@link DeviceServer#execute} and its end, when the device server may fill in data and outcome.
 *
 * <p>A successful READ or WRITE is reused for a later command, so that these allocate nothing: once it has ended, its
 * answer is handed over and the transport is done with its data. No other task is reused, since it may still be
 * referred to: by an abort, a copy that goes on in the background, the answers kept for recovery. Reuse relies on
 * devices to end a request once and not to access it afterwards.
 */
final class Task implements ScsiTask, Transport.Release {
    private static final System.Logger LOG = System.getLogger("lunar.target");
    private static final Sense INTERNAL_FAILURE = Sense.of(SenseKey.HARDWARE_ERROR,
            AdditionalSense.INTERNAL_TARGET_FAILURE);
    private static final Sense ABORTED = Sense.of(SenseKey.ABORTED_COMMAND, AdditionalSense.NONE);
    private static final Sense NO_UNIT = Sense.of(SenseKey.ILLEGAL_REQUEST,
            AdditionalSense.LOGICAL_UNIT_NOT_SUPPORTED);

    /** The state of a task. */
    enum State {
        /** Its data are still coming, or a command before it is missing. */
        RECEIVING,
        /** Its data are there, but tasks before it have not ended (SAM-5 section 8.6). */
        WAITING,
        /** The device server has it. */
        EXECUTING,
        /** It was aborted, and its device does not end it: only its memory is still held. */
        LEFT_BEHIND,
        /** It has its outcome; its data may still be being sent. */
        ENDED
    }

    private FullFeature connection;
    private final TaskData data = new TaskData(this);
    private final Execution execution = new Execution(this);
    Lun lun = Lun.ZERO;
    int itt;
    int cmdSn;
    boolean immediate;
    boolean read;
    boolean write;
    /** Expected data transfer lengths to the device and from it; one of them is 0 unless bidirectional. */
    int expectedOutBytes;
    int expectedInBytes;
    DeviceServer server;

    /** Holds a CDB that fits the header; a longer one has a segment of its own. */
    private final MemorySegment shortCdb = MemorySegment.ofArray(new byte[ScsiCommand.CDB_LENGTH]);
    private MemorySegment cdbBytes = shortCdb;

    State state = State.RECEIVING;
    boolean delivered;
    private volatile boolean aborted;
    private boolean withdrawn;
    private boolean owed;
    private @Nullable Runnable whenAborted;
    /** The task set of its nexus and unit; null for a command that was declined. */
    @Nullable
    TaskSet set;
    TaskAttribute attribute = TaskAttribute.SIMPLE;
    int priority;
    boolean placed;
    TaskSet.@Nullable Rank rank;

    /** Whether its data did not come, and were asked for once more. */
    boolean askedAgain;

    /** Data-In that the initiator had before the task was reassigned to another connection. */
    int acknowledgedPdus;
    int acknowledgedBytes;

    /** When data of it last came. */
    long heardMs;
    /** Null as long as there is no data-out: for a command that does not write, usually for good. */
    private @Nullable WriteTransfer transfer;
    /** The transfer of the last command that had one, for reuse. */
    private @Nullable WriteTransfer usedTransfer;
    private @Nullable List<Runnable> whenEnded;

    /** The CDB as the device server decoded it when the command came; a plain one is decoded on demand. */
    private @Nullable Cdb cdb;
    private boolean plain;
    private @Nullable Sense refusal;
    private int wantedOutBytes;
    private @Nullable Status declined;

    /** Whether a data transfer rule was broken: then it ends with the refusal, whatever data are still to come. */
    boolean broken;

    private Status status = Status.GOOD;
    private @Nullable Sense sense;
    private int dataInBytes;
    private boolean executed;
    private boolean hasOutcome;

    /** Number of Data-In PDUs that the transport has not released; they use the buffer. */
    private int sending;

    /** Whether its whole answer has been handed over, and it has left all lists: required for reuse. */
    private boolean answered;
    private boolean left;

    Task(FullFeature connection, DeviceServer server) {
        this.connection = connection;
        this.server = server;
    }

    /** Becomes the task of a command that has just come; resets all state of the previous one. */
    void begin(CommandHeader command, Lun to, DeviceServer by, boolean isDelivered, long nowMs) {
        lun = to;
        server = by;
        itt = command.itt();
        cmdSn = command.cmdSn();
        immediate = command.immediate();
        read = command.read();
        write = command.write();
        int expected = command.expectedDataTransferBytes();
        expectedOutBytes = write ? expected : 0;
        if (!read) {
            expectedInBytes = 0;
        } else if (write) {
            expectedInBytes = Math.max(0, command.bidirectionalReadBytes());
        } else {
            expectedInBytes = expected < 0 ? Integer.MAX_VALUE : expected;
        }
        cdbBytes = command.cdbLength() == ScsiCommand.CDB_LENGTH
                ? shortCdb
                : MemorySegment.ofArray(new byte[command.cdbLength()]);
        command.copyCdb(cdbBytes);
        execution.clear();
        state = State.RECEIVING;
        delivered = isDelivered;
        heardMs = nowMs;
        aborted = false;
        withdrawn = false;
        owed = false;
        whenAborted = null;
        whenEnded = null;
        set = null;
        attribute = TaskAttribute.SIMPLE;
        priority = 0;
        placed = false;
        rank = null;
        askedAgain = false;
        acknowledgedPdus = 0;
        acknowledgedBytes = 0;
        transfer = null;
        cdb = null;
        plain = false;
        refusal = null;
        declined = null;
        wantedOutBytes = 0;
        broken = false;
        status = Status.GOOD;
        sense = null;
        dataInBytes = 0;
        executed = false;
        hasOutcome = false;
        sending = 0;
        answered = false;
        left = false;
    }

    // --- what the device server sees ---

    Session session() { return connection.session(); }

    /** Returns the connection that the task has its allegiance to. */
    FullFeature connection() {
        return connection;
    }

    /** Changes the allegiance to a connection of the same session (RFC 7143 section 7.2.2). */
    void reassign(FullFeature to) {
        connection = to;
        heardMs = to.heardMs();
        askedAgain = false;
    }

    @Override
    public Nexus nexus() { return session().nexus(); }

    @Override
    public Lun lun() { return lun; }

    @Override
    public DeviceServer server() { return server; }

    @Override
    public MemorySegment cdbBytes() { return cdbBytes; }

    @Override
    public int expectedOutBytes() { return expectedOutBytes; }

    @Override
    public boolean declaresDataOut() { return write; }

    @Override
    public boolean aborted() { return aborted; }

    @Override
    public BlockRequest request() { return execution.request(); }

    @Override
    public Cdb cdb() {
        if (!plain) {
            return Objects.requireNonNull(cdb);
        }
        try {
            return CdbDecoder.decode(cdbBytes);
        } catch (InvalidCdbException e) {
            throw new IllegalStateException("not plain", e);
        }
    }

    @Override
    public boolean isPlain() { return plain; }

    @Override
    public void accept(Cdb decoded, long dataOutBytes) {
        cdb = decoded;
        wantedOutBytes = (int) Math.min(dataOutBytes, Integer.MAX_VALUE);
    }

    @Override
    public void acceptPlain(long dataOutBytes) {
        plain = true;
        wantedOutBytes = (int) Math.min(dataOutBytes, Integer.MAX_VALUE);
    }

    @Override
    public void whenAborted(Runnable what) {
        whenAborted = what;
        if (aborted) {
            what.run();
        }
    }

    /** Marks the task aborted. On the event loop's thread. */
    void abort() {
        aborted = true;
        if (whenAborted != null) {
            whenAborted.run();
        }
    }

    @Override
    public void refuse(Sense why) { refusal = why; }

    @Override
    public MemorySegment dataOut() {
        return data.dataOut(transfer == null ? 0 : transfer.neededBytes());
    }

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

    /** Whether data go both ways. */
    boolean isBidirectional() { return read && write; }

    @Override
    public Buffers.@Nullable Buffer borrow(int bytes) {
        return session().tasks().memory().take(this, bytes);
    }

    @Override
    public void giveBack(Buffers.Buffer borrowed) {
        session().tasks().memory().give(Objects.requireNonNull(set), borrowed);
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
    public void end(Status with) { end(with, null, 0); }

    private void end(Status with, @Nullable Sense why, int dataIn) {
        if (hasOutcome) {
            LOG.log(System.Logger.Level.ERROR, "command {0} of LUN {1} ended twice", name(), lun);
            return;
        }
        hasOutcome = true;
        if (state != State.LEFT_BEHIND) { // then it may have been answered
            status = with;
            sense = why;
            dataInBytes = dataIn;
        }
        session().tasks().ended(this);
    }

    @Override
    public void submit(BlockDevice device, Ending then) { execution.submit(device, then); }

    @Override
    public void submitPiece(BlockDevice device, Ending then) {
        execution.submitPiece(device, then);
    }

    @Override
    public void work(Callable<Consumer<ScsiTask>> blocking) { execution.work(blocking); }

    /** Ends the command after an internal error, which must affect nothing else. */
    void failed(Throwable bug) {
        LOG.log(System.Logger.Level.ERROR, "command " + name() + " of LUN " + lun, bug);
        if (!hasOutcome) {
            checkCondition(INTERNAL_FAILURE);
        }
    }

    /** Returns the name of the command for the log, as far as it is known. */
    private String name() {
        return plain || cdb != null ? cdb().toString() : "unknown";
    }

    // --- what the connection sees ---

    /** Starts the data phase. Without memory the data are drained, and the task ends with BUSY. */
    DataOutResult receive(int immediateBytes, boolean isFinal) {
        int expected = Math.max(0, expectedOutBytes); // beyond 2 GiB it is refused, and no data are requested
        boolean wanted = refusal == null && declined == null;
        if (expected > 0 && wanted && !data.ensure(expected)) {
            declined = Status.BUSY;
        }
        if (!write && immediateBytes == 0) {
            return DataOutResult.COMPLETE;
        }
        return newTransfer().begin(expectedOutBytes < 0 ? Integer.MAX_VALUE : expected,
                wanted && declined == null ? wantedOutBytes : 0, immediateBytes,
                isFinal || !write);
    }

    private WriteTransfer newTransfer() {
        WriteTransfer mine = usedTransfer;
        if (mine == null) {
            mine = new WriteTransfer(connection.rules(), session().recoveryLevel() > 0);
            usedTransfer = mine;
        }
        transfer = mine;
        return mine;
    }

    /** Returns its data-out transfer; an empty one for a command without data-out, for which data may still come. */
    WriteTransfer transfer() {
        WriteTransfer known = transfer;
        if (known == null) {
            known = newTransfer();
            known.begin(0, 0, 0, true);
        }
        return known;
    }

    /** Whether all expected data-out have come. */
    boolean hasAllData() {
        return transfer == null || transfer.isComplete();
    }

    /** Returns the memory for data-out at an offset; NULL where they are only to be drained. */
    MemorySegment destination(int offset, int length) {
        return state != State.RECEIVING || offset < 0 || length > expectedOutBytes - offset
                ? MemorySegment.NULL
                : data.destination(offset, length);
    }

    /** Ends the command with a status once its unsolicited data have come. */
    void decline(Status with) {
        declined = with;
    }

    /**
     * Leaves an aborted task to the device that has not ended it: fences what it may still change. Returns false where
     * that is not known.
     */
    boolean leaveBehind() {
        if (state != State.EXECUTING || !aborted || !execution.fence()) {
            return false;
        }
        state = State.LEFT_BEHIND;
        tellEnded();
        return true;
    }

    void execute() {
        state = State.EXECUTING;
        if (refusal != null) {
            checkCondition(refusal);
        } else if (declined != null) {
            end(declined);
        } else {
            executed = true;
            try {
                server.execute(this);
            } catch (RuntimeException | StackOverflowError | OutOfMemoryError e) {
                failed(e);
            }
        }
    }

    /** Notes that its unit is taken away, for which it is aborted. */
    void withdraw() {
        withdrawn = true;
    }

    /**
     * Whether the task was aborted because its unit was taken away, and has not been answered. Then that becomes its
     * outcome, as the initiator would wait for an answer in vain; unless an Asynchronous Message reports the abort (RFC
     * 7143 section 4.2.3.4).
     */
    boolean endsWithoutUnit() {
        if (!withdrawn || answered
                || session().login().parameters().taskReporting() == TaskReporting.FAST_ABORT) {
            return false;
        }
        status = Status.CHECK_CONDITION;
        sense = NO_UNIT;
        dataInBytes = 0;
        return true;
    }

    /** Sets whether the aborted task is answered nevertheless: the function that aborted it was rejected. */
    void owe(boolean isOwed) {
        owed = isOwed;
    }

    /**
     * Whether the task was aborted by a function that was rejected, and has not been answered. Then its outcome becomes
     * ABORTED COMMAND in any case, as it may have stopped halfway.
     */
    boolean endsAborted() {
        if (!owed || answered) {
            return false;
        }
        status = Status.CHECK_CONDITION;
        sense = ABORTED;
        dataInBytes = 0;
        return true;
    }

    Status status() { return status; }

    @Nullable
    Sense sense() { return sense; }

    /** Returns by how much the CDB needs more data-out than expected, where that has ended the command. */
    Residual overflow() {
        return DATA_OUT_TOO_SHORT.equals(sense) && wantedOutBytes > expectedOutBytes
                ? Residual.of(expectedOutBytes, wantedOutBytes)
                : Residual.NONE;
    }

    /** Returns the bytes of data-in that the command has to send. */
    int dataInBytes() {
        return dataInBytes;
    }

    /** Hands one Data-In PDU with a part of the data to the transport, which uses them until {@link #release}. */
    void sendDataIn(MemorySegment header, int offset, int length) {
        sending++;
        if (data.isTransferred()) {
            connection.transport().transfer(header, data, offset, this);
        } else {
            connection.transport().send(header, data.dataIn(offset, length), this);
        }
    }

    /** Runs something on the event loop's thread when the task has ended; at once if it has. */
    void whenEnded(Runnable what) {
        if (state == State.ENDED || state == State.LEFT_BEHIND) {
            what.run();
            return;
        }
        if (whenEnded == null) {
            whenEnded = new ArrayList<>();
        }
        whenEnded.add(what);
    }

    /** Marks the end, on the event loop's thread. */
    void markEnded() {
        state = State.ENDED;
        execution.lift();
        if (executed) { // after the fence is lifted, which an erasure waits for
            server.ended(this);
        }
        tellEnded();
    }

    private void tellEnded() {
        if (whenEnded != null) {
            whenEnded.forEach(Runnable::run);
            whenEnded = null;
        }
    }

    /** Keeps the buffer until {@link #release}. */
    void hold() { sending++; }

    /** Releases one hold on the buffer: the transport is done with a Data-In PDU, or the holder with the task. */
    @Override
    public void release() {
        if (!connection.transport().loop().inLoop()) {
            connection.transport().loop().execute(this::release);
        } else if (--sending == 0) {
            giveBackBuffer();
            retire();
        }
    }

    /** Notes that its whole answer has been handed over; releases the hold taken meanwhile. */
    void answered() {
        answered = true;
        release();
    }

    /** Notes that the session has removed it. */
    void left() {
        left = true;
        retire();
    }

    /** Offers the task for reuse, if nothing can refer to it any more. */
    private void retire() {
        if (plain && left && answered && sending == 0 && status == Status.GOOD && !aborted
                && session().recoveryLevel() == 0 && !connection.isFilling(this)
                && data.isEmpty()) {
            left = false; // only once
            set = null;
            rank = null;
            execution.clear(); // or it would keep memory alive that is not its own
            connection.commands().reuse(this);
        }
    }

    /** Gives the buffer back, unless the transport is filling it. */
    void giveBackBuffer() {
        data.giveBack();
    }
}
