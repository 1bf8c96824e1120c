package lunar.scsi.target;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.StorageException;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.Cdb;
import lunar.scsi.Lun;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.Status;
import org.jspecify.annotations.Nullable;

/**
 * A command to be executed by a device server (SAM-5 section 4.7.4): its CDB, memory for its data, and methods to end
 * it. Must be ended exactly once, on its event loop: the thread that calls {@link DeviceServer} and runs every {@link
 * Ending}.
 */
public interface ScsiTask {
    /**
     * The initiator has declared less data-out than the CDB needs (FCP-4 section 9.4.2); reported with the overflow.
     */
    Sense DATA_OUT_TOO_SHORT = Sense.of(SenseKey.ILLEGAL_REQUEST,
            AdditionalSense.INVALID_FIELD_IN_COMMAND_INFORMATION_UNIT);

    /** Maps the completion of a device request to the outcome of the task. */
    @FunctionalInterface
    interface Ending {
        void ended(ScsiTask task, @Nullable StorageException failure);
    }

    /** Returns the nexus that sent the command. */
    Nexus nexus();

    /** Returns the LUN that the initiator addressed. */
    Lun lun();

    /** Returns the device server that executes the command. */
    DeviceServer server();

    /** Returns the CDB as received, including the additional bytes of an extended CDB. */
    MemorySegment cdbBytes();

    /** Returns the decoded command, once accepted; for a plain command each call creates a record. */
    Cdb cdb();

    /** Whether the command was accepted as a plain READ or WRITE: its fields are read from {@link #cdbBytes}. */
    boolean isPlain();

    /** Returns the number of bytes that the initiator expects to send. */
    int expectedOutBytes();

    /** Returns the number of bytes that the initiator expects to receive; more are not sent. */
    int expectedInBytes();

    /** Whether the initiator has declared data-out (the W bit), even if of length 0. */
    boolean declaresDataOut();

    /**
     * Whether the task has been aborted: it must still be ended, but its outcome is not reported. May be called by any
     * thread.
     */
    boolean aborted();

    /**
     * Registers an action that runs on the loop when the task is aborted, or at once if it already is: ends long work
     * early.
     */
    void whenAborted(Runnable what);

    /** Accepts the command on arrival; its execution needs this many bytes of data-out. */
    void accept(Cdb decoded, long dataOutBytes);

    /**
     * Like {@link #accept}, but for a {@linkplain lunar.scsi.block.BlockCdb#isPlain plain} READ or WRITE, for which no
     * record is created.
     */
    void acceptPlain(long dataOutBytes);

    /** Rejects the command on arrival; it ends with this sense data after its unsolicited data has arrived. */
    void refuse(Sense why);

    /** Returns the received data-out: the length that the CDB needs or that the initiator expected to send, if less. */
    MemorySegment dataOut();

    /**
     * Returns memory for exactly this many bytes of data-in, with undefined content. Returns null if none is available,
     * in which case the task must end with BUSY: not an Optional, which each command would allocate.
     */
    @Nullable
    MemorySegment roomForDataIn(int bytes);

    /**
     * Sends the data-in directly from the device, starting at this offset, instead of from {@link #roomForDataIn}; the
     * task then ends with {@link #good(int)}. Returns false if the connection does not support that.
     */
    boolean transferDataIn(BlockDevice from, long offsetBytes);

    /**
     * Borrows memory in addition to the task's own. Returns null if none is available: not an Optional, which each
     * command would allocate. The caller gives it back before it ends the task.
     */
    Buffers.@Nullable Buffer borrow(int bytes);

    /** Gives back borrowed memory. Runs on the loop's thread. */
    void giveBack(Buffers.Buffer borrowed);

    /** Ends with GOOD and no data. */
    void good();

    /**
     * Ends with GOOD and the first bytes of {@link #roomForDataIn}. The number may exceed that memory where the
     * initiator {@linkplain #expectedInBytes expects} no more than it has; the difference is reported as overflow.
     */
    void good(int dataIn);

    /** Ends with GOOD and parameter data, truncated to the allocation length (SPC-5 section 4.2.5.6). */
    void good(byte[] parameterData, long allocationLength);

    /** Ends with CHECK CONDITION. */
    void checkCondition(Sense why);

    /**
     * Ends with CHECK CONDITION, and with data-in like {@link #good(int)}: for a command that returns data although it
     * reports a condition, such as a read past the end of an object (OSD-2).
     */
    void checkCondition(Sense why, int dataIn);

    /** Ends with a status without data and sense data. */
    void end(Status with);

    /** Returns the request object of the task; a task has at most one device request at a time. */
    BlockRequest request();

    /** Submits {@link #request} to the device; {@code then} runs on the loop with its outcome. */
    void submit(BlockDevice device, Ending then);

    /** Like {@link #submit}, for a command of many pieces: other tasks of the loop run between two pieces. */
    void submitPiece(BlockDevice device, Ending then);

    /**
     * Runs work that may block (a copy, a write of state to disk) on a thread of its own; the returned action runs on
     * the loop and ends the task. A {@link StorageException} or {@link lunar.scsi.IllegalRequestException} that it
     * throws ends the task with its sense, another exception with HARDWARE ERROR. Long work checks {@link #aborted}
     * between two pieces.
     */
    void work(Callable<Consumer<ScsiTask>> blocking);

    /**
     * Like {@link #work(Callable)}, but on a thread of an executor: for work that computes for long or calls native
     * code, which would keep the thread that other work shares. The task ends with BUSY if the executor rejects the
     * work, and at once if it is aborted before the work has begun.
     */
    void work(Executor executor, Callable<Consumer<ScsiTask>> blocking);

    /**
     * Like {@link #work(Executor, Callable)}, but for work that normally takes microseconds, and blocks rarely: the
     * thread of the task's loop may run it, which saves two switches of threads. If the work takes longer than a
     * millisecond or two, other tasks of the loop go on meanwhile.
     */
    void workBriefly(Executor executor, Callable<Consumer<ScsiTask>> blocking);
}
