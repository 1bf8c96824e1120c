package lunar.initiator.internal.session;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import lunar.block.StorageException;
import lunar.initiator.Exchange;
import lunar.initiator.ScsiResult;
import lunar.initiator.internal.retry.SenseMapping;
import lunar.iscsi.pdu.Residual;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iscsi.pdu.ScsiResponse;
import lunar.iscsi.spi.Transport;
import lunar.iscsi.transfer.BurstRules;
import lunar.iscsi.transfer.DataInReceiver;
import lunar.iscsi.transfer.DataOutPlan;
import lunar.scsi.Bytes;
import lunar.scsi.Cdb;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.Status;
import lunar.scsi.block.BlockCdb;
import lunar.scsi.command.CdbDecoder;
import org.jspecify.annotations.Nullable;

/**
 * A SCSI command from its submission to its completion: request, state and outcome. Reused, so that the steady state
 * allocates nothing. Fields below "on the way" are guarded by the lock of {@link Tasks}; those of the outcome are
 * written before the completion is dispatched and read after it.
 */
public final class Command implements Transport.Release, BooleanSupplier {
    /** Called when a command has ended, without any lock held; {@link Command#failure} tells how. */
    @FunctionalInterface
    public interface Ending {
        void ended(Command command);
    }

    /** Where a command is. */
    enum State {
        /** With its owner. */
        IDLE,
        /** In the queue for a task slot or the command window. */
        WAITING,
        /** Busy at the target; a timer puts it into the queue again. */
        RESTING,
        /** At the target. */
        ACTIVE,
        /** At the target, which has been asked to abort it. */
        ABORTING,
        /** At the target, perhaps; its connection is lost. */
        LOST,
        /** Ended at the target, while the transport still sends from its buffer or writes into it. */
        RELEASING
    }

    /** How often a command, or parts of it, are requested again before the connection counts as broken. */
    public static final int MAX_SNACKS = 64;

    private final Consumer<Command> released;
    final DataInReceiver dataInReceiver;
    final DataOutPlan dataOutPlan;
    /** Answers to R2Ts. */
    final UnsentAnswers unsentBursts;

    /** The request; set by the owner. */
    long lun;
    private final byte[] cdbBytes = new byte[Exchange.Scsi.MAX_CDB_BYTES];
    final MemorySegment cdb = MemorySegment.ofArray(cdbBytes);
    int cdbLength;
    MemorySegment dataIn = MemorySegment.NULL;
    MemorySegment dataOut = MemorySegment.NULL;
    private Ending ending = _ -> {};

    /** State that an owner keeps with the command, also while it is idle; null before the first use of it. */
    @Nullable
    Object attachment;
    /** The thread that waits for the end. */
    @Nullable
    Thread waiter;
    volatile boolean done;

    /** The task that may cancel it. */
    @Nullable
    Object owner;

    /** On the way. */
    State state = State.IDLE;
    /** The connection by which it is at the target; a lost one as long as the command has not been moved. */
    @Nullable
    Connection connection;
    /** Whether the target has sent anything for it since it was moved. */
    boolean heard;
    int snacks;
    /** DataSN from which on data were requested again; -1 for none. */
    int askedDataSn;
    /** A GOOD status was received before all data; it takes effect when the data is complete. */
    boolean statusHeld;
    int heldStatSn;
    int heldExpDataSn;
    long begunNanos;
    @Nullable
    Command next;
    int slot;
    int itt;
    int cmdSn;
    long deadlineMs;
    /** Time from the submission to the deadline; 0 for the session's default. */
    int patienceMs;
    /** The W bit is set although there are no data-out. */
    boolean saysWrite;
    /** Parts of its buffers that the transport has: data to send, and a Data-In that is being received. */
    int pendingTransfers;

    /** The outcome. {@code failure} is set where it is not an answer of the target. */
    @Nullable
    StorageException failure;
    /** The failure is that the connection was lost; the session may continue. */
    boolean lost;
    /** The failure is that the target has terminated the task without a request of this session. */
    boolean terminated;
    int response;
    int status;
    Bytes sense = Bytes.EMPTY;
    Residual residual = Residual.NONE;
    Residual bidirectionalReadResidual = Residual.NONE;

    /**
     * @param maxR2ts that may be outstanding
     * @param released called when the transport no longer needs a part of its data
     */
    Command(BurstRules rules, int maxSendBytes, int maxR2ts, Consumer<Command> released) {
        this.released = released;
        dataInReceiver = new DataInReceiver(rules);
        dataOutPlan = new DataOutPlan(rules, maxSendBytes);
        unsentBursts = new UnsentAnswers(maxR2ts);
    }

    /** Prepares a new request. The CDB is to be written into {@link #cdb}. */
    public void prepare(long lunValue, MemorySegment in, MemorySegment out, Ending whenEnded) {
        assert state == State.IDLE : state;
        lun = lunValue;
        dataIn = in;
        dataOut = out;
        ending = whenEnded;
        deadlineMs = 0;
        patienceMs = 0;
        saysWrite = false;
        begunNanos = 0;
        snacks = 0;
        done = false;
    }

    /** Releases everything that belongs to others. */
    void clear() {
        dataIn = MemorySegment.NULL;
        dataOut = MemorySegment.NULL;
        waiter = null;
        owner = null;
        failure = null;
        sense = Bytes.EMPTY;
    }

    /** Resets the outcome before the command is sent, or sent again. */
    void resetOutcome() {
        failure = null;
        lost = false;
        terminated = false;
        askedDataSn = -1;
        statusHeld = false;
        response = ScsiResponse.COMPLETED;
        status = 0;
        sense = Bytes.EMPTY;
        residual = Residual.NONE;
        bidirectionalReadResidual = Residual.NONE;
    }

    /** Writes the CDB. */
    public void encode(Cdb what) {
        clearCdb();
        what.encode(cdb);
        cdbLength = what.length();
    }

    /** Returns the state that the owner keeps with the command, also while it is idle; null before {@link #attach}. */
    public @Nullable Object attachment() {
        return attachment;
    }

    /** Sets the state that the owner keeps with the command. */
    public void attach(Object state) {
        attachment = state;
    }

    /** Sets the thread that waits for the end; for no thread, the end is told on the event loop's. */
    public void awaitBy(Thread thread) {
        waiter = thread;
    }

    /** Whether a thread waits for the end. */
    public boolean isAwaited() { return waiter != null; }

    /** Prepares an ended command for another one without data, which belongs to the same request. */
    public void continueWith(Cdb what) {
        dataOut = MemorySegment.NULL;
        encode(what);
    }

    /** Writes the CDB of a READ, without the record. */
    public void encodeRead(long lba, long blockCount) {
        clearCdb();
        cdbLength = BlockCdb.encodeRead(cdb, lba, blockCount);
    }

    /** Writes the CDB of a WRITE, without the record. */
    public void encodeWrite(long lba, long blockCount, boolean fua) {
        clearCdb();
        cdbLength = BlockCdb.encodeWrite(cdb, lba, blockCount, fua);
    }

    private void clearCdb() { Arrays.fill(cdbBytes, 0, ScsiCommand.CDB_LENGTH, (byte) 0); }

    /** Returns the command's description, for messages. */
    String describe() {
        try {
            return CdbDecoder.decode(cdb.asSlice(0, cdbLength)).toString();
        } catch (InvalidCdbException _) {
            return cdbLength <= ScsiCommand.CDB_LENGTH
                    ? "CDB " + Bytes.of(cdb.asSlice(0, cdbLength))
                    : "CDB " + Bytes.of(cdb.asSlice(0, ScsiCommand.CDB_LENGTH)) + "... ("
                            + cdbLength + " bytes)";
        }
    }

    // --- the outcome ---

    /** Returns the failure, where there is no answer of the target; null for none. */
    public @Nullable StorageException failure() {
        return failure;
    }

    /** Whether the failure is that the connection was lost; the session may continue. */
    public boolean isLost() {
        return lost;
    }

    /** Whether the failure is that the target has terminated the task without a request of this session. */
    public boolean isTerminated() {
        return terminated;
    }

    /** Returns the response code of the target's iSCSI layer. */
    public int response() {
        return response;
    }

    /** Returns the SCSI status. */
    public int status() { return status; }

    /** Returns the sense data. */
    public Bytes sense() { return sense; }

    public Residual residual() { return residual; }

    public MemorySegment dataIn() { return dataIn; }

    public MemorySegment dataOut() { return dataOut; }

    /** Returns when it ends at the latest, by the event loop's clock. */
    public long deadlineMs() {
        return deadlineMs;
    }

    /** Returns the target's answer. */
    ScsiResult result() {
        return new ScsiResult(status, sense, residual, bidirectionalReadResidual,
                dataInReceiver.receivedBytes());
    }

    /** Notes which data-in a transport has placed: all but the residual that the target reports. */
    void notePlaced() {
        Residual missing = writes() ? bidirectionalReadResidual : residual;
        dataInReceiver.placed(missing);
    }

    /**
     * Counts data that was not received, or that the target did not request, as missing, regardless of the reported
     * residual: if a command has succeeded without a residual, sets the observed one.
     */
    void noteMissing() {
        int moved = writes() ? dataOutPlan.sentBytes() : dataInReceiver.receivedBytes();
        if (moved != expectedBytes() && residual.kind() == Residual.Kind.NONE
                && SenseMapping.isSuccess(status, sense)) {
            residual = Residual.of(expectedBytes(), moved);
        }
    }

    /** Whether the target has answered with a status. */
    public boolean isAnswered() {
        return failure == null && response == ScsiResponse.COMPLETED;
    }

    /** Whether the target has answered with GOOD. */
    public boolean isGood() {
        return isAnswered() && status == Status.GOOD.code();
    }

    boolean reads() { return dataIn.byteSize() > 0; }

    boolean writes() { return dataOut.byteSize() > 0; }

    /** Returns the Expected Data Transfer Length in bytes: of a bidirectional command that of its data-out. */
    public int expectedBytes() {
        return (int) (writes() ? dataOut.byteSize() : dataIn.byteSize());
    }

    /** Tells the owner that the command has ended. */
    void tellOwner() { ending.ended(this); }

    /** Returns a part of a buffer; the buffer itself, without a new object, where that is all of it. */
    static MemorySegment slice(MemorySegment buffer, int offset, int length) {
        return offset == 0 && length == buffer.byteSize() ? buffer : buffer.asSlice(offset, length);
    }

    /** Wakes the thread that waits in {@link #await}, with an outcome that may differ from that of the command. */
    public void wake(@Nullable StorageException outcome) {
        failure = outcome;
        wake();
    }

    /** Wakes the thread that waits in {@link #await}. */
    void wake() {
        Thread sleeper = waiter;
        done = true;
        if (!Thread.currentThread().equals(sleeper)) {
            LockSupport.unpark(sleeper);
        }
    }

    /** Whether the thread that waits for it may continue. */
    @Override
    public boolean getAsBoolean() { return done; }

    /**
     * Waits for {@link #wake}, at most until the deadline. An interrupt does not end the wait, because the target may
     * write into the buffer until then; the flag is restored at the end.
     */
    void await() {
        boolean interrupted = false;
        while (!done) {
            LockSupport.park(this);
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Called when the transport no longer needs a part of {@link #dataOut}. */
    @Override
    public void release() { released.accept(this); }
}
