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
import lunar.scsi.InvalidCdbException;
import lunar.scsi.Lun;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.Status;
import lunar.target.device.Buffers;
import lunar.target.device.DeviceServer;
import lunar.target.device.Nexus;
import lunar.target.device.ScsiTask;
import org.jspecify.annotations.Nullable;

/**
 * One SCSI command, from its PDU to its response (SAM-5 section 4.7.4). Belongs to its connection's loop, except
 * between {@link DeviceServer#execute} and its end, when the device server may fill in data and outcome.
 *
 * <p>A READ or WRITE that has gone well is used again for a later command, so that these allocate nothing: once it has
 * ended, its answer is handed over and the transport is done with its data. No other task is, since somebody may still
 * know it: who aborted it, a copy that goes on in the background, the answers kept for recovery. It relies on devices
 * to end a request once and not to look at it any more.
 */
final class Task implements ScsiTask, Transport.Release {
    private static final System.Logger LOG = System.getLogger("lunar.target");
    private static final Sense INTERNAL_FAILURE = Sense.of(SenseKey.HARDWARE_ERROR,
            AdditionalSense.INTERNAL_TARGET_FAILURE);
    private static final Sense ABORTED = Sense.of(SenseKey.ABORTED_COMMAND, AdditionalSense.NONE);
    private static final Sense NO_UNIT = Sense.of(SenseKey.ILLEGAL_REQUEST,
            AdditionalSense.LOGICAL_UNIT_NOT_SUPPORTED);

    /** Where a task is. */
    enum State {
        /** Its data are still coming, or a command before it is missing. */
        RECEIVING,
        /** Its data are there, and tasks before it are not done (SAM-5 section 8.6). */
        WAITING,
        /** The device server has it. */
        EXECUTING,
        /** It was aborted, and its device does not end it: it is forgotten but for its memory. */
        LEFT_BEHIND,
        /** It has its outcome; its data may still be on their way out. */
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
    /** Expected data transfer length to the device, and from it: one of them 0 unless bidirectional. */
    int expectedOutBytes;
    int expectedInBytes;
    DeviceServer server;

    /** Of a CDB that fits the header; a longer one has a segment of its own. */
    private final MemorySegment shortCdb = MemorySegment.ofArray(new byte[ScsiCommand.CDB_LENGTH]);
    private MemorySegment cdbBytes = shortCdb;

    State state = State.RECEIVING;
    boolean delivered;
    private volatile boolean aborted;
    private boolean withdrawn;
    private boolean owed;
    private @Nullable Runnable whenAborted;
    /** Where the task stands among those of its nexus and unit; no set for a command that was turned away. */
    @Nullable
    TaskSet set;
    TaskAttribute attribute = TaskAttribute.SIMPLE;
    int priority;
    boolean placed;
    TaskSet.@Nullable Rank rank;

    /** Its data did not come, and were asked for once more. */
    boolean askedAgain;

    /** Data-In that the initiator had before the task was reassigned to another connection. */
    int acknowledgedPdus;
    int acknowledgedBytes;

    /** When the last of its data came. */
    long heardMs;
    /** Null as long as there is nothing to transfer: for a command that does not write, as a rule for good. */
    private @Nullable WriteTransfer transfer;
    /** The one of the last command that had any. */
    private @Nullable WriteTransfer usedTransfer;
    private @Nullable List<Runnable> whenEnded;

    /** What the device server made of the CDB when the command came; of a plain one it makes nothing. */
    private @Nullable Cdb cdb;
    private boolean plain;
    private @Nullable Sense refusal;
    private int wantedOutBytes;
    private @Nullable Status declined;

    /** A rule of the data transfer was broken: ends with the refusal, whatever data are still to come. */
    boolean broken;

    private Status status = Status.GOOD;
    private @Nullable Sense sense;
    private int dataInBytes;
    private boolean executed;
    private boolean hasOutcome;

    /** Data-In PDUs that the transport has not released; the buffer is theirs as long. */
    private int sending;

    /** All of its answer has been handed over, and it stands in no list any more: what its next use waits for. */
    private boolean answered;
    private boolean left;

    Task(FullFeature connection, DeviceServer server) {
        this.connection = connection;
        this.server = server;
    }

    /** Becomes the task of a command that has just come: nothing is left of the one before. */
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

    /** The connection that the task has its allegiance to. */
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
            return Cdb.decode(cdbBytes);
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

    /** Somebody aborts the task. On the loop. */
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
    public void good(byte[] parameterData, int allocationLength) {
        int length = Math.min(parameterData.length, allocationLength);
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
        if (state != State.LEFT_BEHIND) { // which may have been answered
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

    /** A bug of ours ends the command and nothing else. */
    void failed(Throwable bug) {
        LOG.log(System.Logger.Level.ERROR, "command " + name() + " of LUN " + lun, bug);
        if (!hasOutcome) {
            checkCondition(INTERNAL_FAILURE);
        }
    }

    /** For the log: the command, as far as it is known. */
    private String name() {
        return plain || cdb != null ? cdb().toString() : "unknown";
    }

    // --- what the connection sees ---

    /** Starts the data phase. Without memory for the data they are drained, and the task ends with BUSY. */
    DataOutResult receive(int immediateBytes, boolean isFinal) {
        int expected = Math.max(0, expectedOutBytes); // beyond 2 GiB it is refused, and nothing asked for
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

    /** Its data-out; of a command without any, which somebody may yet send some for, an empty transfer. */
    WriteTransfer transfer() {
        WriteTransfer known = transfer;
        if (known == null) {
            known = newTransfer();
            known.begin(0, 0, 0, true);
        }
        return known;
    }

    /** Whether all data-out that will come have come. */
    boolean hasAllData() {
        return transfer == null || transfer.isComplete();
    }

    /** Where data-out of this place in the transfer go; NULL where they are only to be drained. */
    MemorySegment destination(int offset, int length) {
        return state != State.RECEIVING || offset < 0 || length > expectedOutBytes - offset
                ? MemorySegment.NULL
                : data.destination(offset, length);
    }

    /** Turns the command away with a status once its unsolicited data have come. */
    void decline(Status with) {
        declined = with;
    }

    /**
     * Goes on without the device, which has not ended the aborted task: fences what it may still change. Fails where it
     * cannot be told what that is.
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

    /** Its unit is taken away, and it is aborted for that. */
    void withdraw() { withdrawn = true; }

    /**
     * Whether the task was aborted because its unit was taken away and has not been answered. Whatever it has come to,
     * that is what its initiator is told, which would wait for it in vain; unless a message tells it (RFC 7143 section
     * 4.2.3.4).
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

    /** Whether the initiator is to be told of it though it is aborted: the function that has done so was rejected. */
    void owe(boolean isOwed) {
        owed = isOwed;
    }

    /**
     * Whether the task was aborted by a function that was rejected and has not been answered. It is answered with
     * ABORTED COMMAND whatever it has come to, for it may have stopped halfway.
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

    /** How far the initiator expected less data-out than the CDB needs, where that has ended the command. */
    Residual overflow() {
        return DATA_OUT_TOO_SHORT.equals(sense) && wantedOutBytes > expectedOutBytes
                ? Residual.of(expectedOutBytes, wantedOutBytes)
                : Residual.NONE;
    }

    /** Bytes of data-in that the command has to send. */
    int dataInBytes() { return dataInBytes; }

    /** Hands one Data-In PDU with a part of the data to the transport, which holds them until it is done. */
    void sendDataIn(MemorySegment header, int offset, int length) {
        sending++;
        if (data.isTransferred()) {
            connection.transport().transfer(header, data, offset, this);
        } else {
            connection.transport().send(header, data.dataIn(offset, length), this);
        }
    }

    /** Runs something on the loop when the task has ended; at once if it has. */
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

    /** Marks the end, on the loop. */
    void markEnded() {
        state = State.ENDED;
        execution.lift();
        if (executed) { // after the fence is gone, for which an erasure waits
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

    /** The transport is done with one of the Data-In PDUs. */
    @Override
    public void release() {
        if (!connection.transport().loop().inLoop()) {
            connection.transport().loop().execute(this::release);
        } else if (--sending == 0) {
            giveBackBuffer();
            retire();
        }
    }

    /** All of its answer has been handed over; releases what was held meanwhile. */
    void answered() {
        answered = true;
        release();
    }

    /** Its session does not know it any more. */
    void left() {
        left = true;
        retire();
    }

    /** Gives the task to another command, if nobody can get at it any more. */
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

    /** Nobody needs the buffer any more, unless the transport is filling it this moment. */
    void giveBackBuffer() {
        data.giveBack();
    }
}
