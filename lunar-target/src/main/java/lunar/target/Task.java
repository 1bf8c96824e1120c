package lunar.target;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import lunar.block.AbortedException;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.iscsi.BurstRules;
import lunar.iscsi.DataOutResult;
import lunar.iscsi.TaskAttribute;
import lunar.iscsi.TaskReporting;
import lunar.iscsi.WriteTransfer;
import lunar.iscsi.spi.Transport;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Cdb;
import lunar.scsi.IllegalRequestException;
import lunar.scsi.Lun;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.Status;
import lunar.target.device.Buffers;
import lunar.target.device.DeviceServer;
import lunar.target.device.FencedDevice;
import lunar.target.device.Nexus;
import lunar.target.device.ScsiTask;
import lunar.target.device.StorageSense;
import lunar.target.device.Worker;
import org.jspecify.annotations.Nullable;

/**
 * One SCSI command, from its PDU to its response (SAM-5 section 4.7.4). Belongs to its connection's loop, except
 * between {@link DeviceServer#execute} and its end, when the device server may fill in data and outcome.
 */
final class Task implements ScsiTask, BlockRequest.Completion, Transport.Release {
    private static final System.Logger LOG = System.getLogger("lunar.target");
    private static final Sense INTERNAL_FAILURE = Sense.of(SenseKey.HARDWARE_ERROR,
            AdditionalSense.INTERNAL_TARGET_FAILURE);
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
    final Lun lun;
    final int itt;
    final int cmdSn;
    final boolean immediate;
    final boolean read;
    final boolean write;
    /** Expected data transfer length to the device, and from it: one of them 0 unless bidirectional. */
    final int expectedOutBytes;
    final int expectedInBytes;
    final MemorySegment cdbBytes;
    final DeviceServer server;
    final BlockRequest request = new BlockRequest().onCompletion(this);

    State state = State.RECEIVING;
    boolean delivered;
    private volatile boolean aborted;
    private boolean withdrawn;
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
    private @Nullable List<Runnable> whenEnded;

    /** What the device server made of the CDB when the command came. */
    private @Nullable Cdb cdb;
    private @Nullable Sense refusal;
    private int wantedOutBytes;
    private @Nullable Status declined;

    /** A rule of the data transfer was broken: ends with the refusal, whatever data are still to come. */
    boolean broken;

    private Buffers.@Nullable Buffer buffer;
    /** Of a bidirectional command, whose data-out have {@link #buffer}. */
    private Buffers.@Nullable Buffer dataInBuffer;
    private Status status = Status.GOOD;
    private @Nullable Sense sense;
    private int dataInBytes;
    private @Nullable StorageException failure;
    private @Nullable Ending ending;

    /** Where {@link #request} is this moment. */
    private @Nullable BlockDevice submittedTo;
    private @Nullable Worker worker;
    private List<FencedDevice.Confined> confined = List.of();
    private boolean takesTurns;
    private boolean executed;
    private boolean hasOutcome;

    /** Data-In PDUs that the transport has not released; the buffer is theirs as long. */
    private int sending;

    Task(FullFeature connection, DeviceServer server, Lun lun, int itt, int cmdSn,
            boolean immediate, boolean read, boolean write, int expectedOutBytes,
            int expectedInBytes, MemorySegment cdbBytes) {
        this.connection = connection;
        this.server = server;
        this.lun = lun;
        this.itt = itt;
        this.cmdSn = cmdSn;
        this.immediate = immediate;
        this.read = read;
        this.write = write;
        this.expectedOutBytes = expectedOutBytes;
        this.expectedInBytes = expectedInBytes;
        this.cdbBytes = cdbBytes;
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
    public boolean aborted() { return aborted; }

    @Override
    public BlockRequest request() { return request; }

    @Override
    public Cdb cdb() { return Objects.requireNonNull(cdb); }

    @Override
    public void accept(Cdb decoded, long dataOutBytes) {
        cdb = decoded;
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
        int bytes = transfer == null ? 0 : transfer.neededBytes();
        return buffer == null ? MemorySegment.NULL : buffer.memory().asSlice(0, bytes);
    }

    @Override
    public @Nullable MemorySegment roomForDataIn(int bytes) {
        if (isBidirectional()) {
            if (dataInBuffer != null) {
                giveBack(dataInBuffer);
            }
            dataInBuffer = borrow(bytes);
            return dataInBuffer == null ? null : dataInBuffer.memory().asSlice(0, bytes);
        }
        if (!ensureBuffer(bytes)) {
            return null;
        }
        return Objects.requireNonNull(buffer).memory().asSlice(0, bytes);
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
            LOG.log(System.Logger.Level.ERROR, "command {0} of LUN {1} ended twice", cdb, lun);
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
    public void submit(BlockDevice device, Ending then) {
        ending = then;
        if (aborted) { // the next step of a command that nobody wants any more
            completed(request, new AbortedException("the command was aborted"));
            return;
        }
        submittedTo = device;
        try {
            device.submit(request);
        } catch (RuntimeException e) { // a bug of the device; submit never throws by its contract
            LOG.log(System.Logger.Level.ERROR, "device of LUN " + lun, e);
            completed(request, new DeviceGoneException("internal error of the device", e));
        }
    }

    @Override
    public void submitPiece(BlockDevice device, Ending then) {
        takesTurns = true;
        submit(device, then);
    }

    @Override
    public void work(Callable<Consumer<ScsiTask>> blocking) {
        var busy = new Worker();
        worker = busy;
        Thread.ofVirtual().name("lunar-command").start(() -> busy.run(() -> {
            Consumer<ScsiTask> outcome = outcome(blocking);
            ending = (_, _) -> outcome.accept(this);
            connection.resume(this, true);
        }));
    }

    /** Runs the work; a failure becomes the outcome that tells it. */
    private Consumer<ScsiTask> outcome(Callable<Consumer<ScsiTask>> blocking) {
        try {
            return blocking.call();
        } catch (StorageException e) {
            return task -> StorageSense.end(task, e);
        } catch (IllegalRequestException e) {
            return task -> task.checkCondition(e.sense());
        } catch (Exception | StackOverflowError | OutOfMemoryError e) {
            LOG.log(System.Logger.Level.ERROR, "command " + cdb + " of LUN " + lun, e);
            return task -> task.checkCondition(INTERNAL_FAILURE);
        }
    }

    @Override
    public void completed(BlockRequest done, @Nullable StorageException why) {
        failure = why;
        connection.resume(this, takesTurns);
    }

    /** On the loop: the device has ended what was submitted. */
    void resume() {
        submittedTo = null;
        worker = null;
        guarded(() -> Objects.requireNonNull(ending).ended(this, failure));
    }

    /** Runs a part of the command; a bug of ours ends the command and nothing else. */
    private void guarded(Runnable part) {
        try {
            part.run();
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError e) {
            LOG.log(System.Logger.Level.ERROR, "command " + cdb + " of LUN " + lun, e);
            if (!hasOutcome) {
                checkCondition(INTERNAL_FAILURE);
            }
        }
    }

    // --- what the connection sees ---

    /** Starts the data phase. Without memory for the data they are drained, and the task ends with BUSY. */
    DataOutResult begin(int immediateBytes, boolean isFinal) {
        int expected = Math.max(0, expectedOutBytes); // beyond 2 GiB it is refused, and nothing asked for
        boolean wanted = refusal == null && declined == null;
        if (expected > 0 && wanted && !ensureBuffer(expected)) {
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
        var fresh = new WriteTransfer(connection.rules(), session().recoveryLevel() > 0);
        transfer = fresh;
        return fresh;
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
        if (state != State.RECEIVING || buffer == null || offset < 0
                || length > expectedOutBytes - offset) {
            return MemorySegment.NULL;
        }
        return buffer.memory().asSlice(offset, length);
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
        if (state != State.EXECUTING) {
            return false;
        }
        List<FencedDevice.Confined> fences = null;
        if (submittedTo instanceof FencedDevice device) {
            FencedDevice.Confined fence = device.confine(request);
            fences = fence == null ? null : List.of(fence);
        } else if (worker != null) {
            fences = worker.leaveBehind();
        }
        if (fences == null) {
            return false;
        }
        confined = fences;
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
            guarded(() -> server.execute(this));
        }
    }

    /** Its unit is taken away, and it is aborted for that. */
    void withdraw() { withdrawn = true; }

    /**
     * Whether the task was aborted because its unit was taken away. Whatever it has come to, that is what its initiator
     * is told, which would wait for it in vain; unless a message tells it (RFC 7143 section 4.2.3.4).
     */
    boolean endsWithoutUnit() {
        if (!withdrawn
                || session().login().parameters().taskReporting() == TaskReporting.FAST_ABORT) {
            return false;
        }
        status = Status.CHECK_CONDITION;
        sense = NO_UNIT;
        dataInBytes = 0;
        return true;
    }

    Status status() { return status; }

    @Nullable
    Sense sense() { return sense; }

    /** Bytes of data-in that the command has to send. */
    int dataInBytes() { return dataInBytes; }

    MemorySegment dataIn(int offset, int length) {
        Buffers.Buffer from = dataInBuffer == null ? buffer : dataInBuffer;
        return Objects.requireNonNull(from).memory().asSlice(offset, length);
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
        confined.forEach(FencedDevice.Confined::lift);
        confined = List.of();
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

    /** One more Data-In PDU holds the buffer. */
    void hold() { sending++; }

    /** The transport is done with one of the Data-In PDUs. */
    @Override
    public void release() {
        if (!connection.transport().loop().inLoop()) {
            connection.transport().loop().execute(this::release);
        } else if (--sending == 0) {
            giveBackBuffer();
        }
    }

    /** Nobody needs the buffer any more, unless the transport is filling it this moment. */
    void giveBackBuffer() {
        Buffers.Buffer lent = buffer;
        if (lent != null && !connection.isFilling(this)) {
            buffer = null;
            giveBack(lent);
        }
        Buffers.Buffer lentIn = dataInBuffer;
        if (lentIn != null) {
            dataInBuffer = null;
            giveBack(lentIn);
        }
    }

    private boolean ensureBuffer(int bytes) {
        Buffers.Buffer lent = buffer;
        if (lent != null && lent.memory().byteSize() >= bytes) {
            return true;
        }
        giveBackBuffer();
        buffer = session().tasks().memory().take(this, bytes);
        return buffer != null;
    }
}
