package lunar.scsi.target;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.Callable;
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
 * A command as device servers see it (SAM-5 section 4.7.4): what was asked, room for its data, and the ways to end it.
 * It must be ended exactly once, on its loop: the thread that calls {@link DeviceServer} and runs every {@link Ending}.
 */
public interface ScsiTask {
    /** The initiator has declared less data-out than the CDB needs (FCP-4 section 9.4.2); told with the overflow. */
    Sense DATA_OUT_TOO_SHORT = Sense.of(SenseKey.ILLEGAL_REQUEST,
            AdditionalSense.INVALID_FIELD_IN_COMMAND_INFORMATION_UNIT);

    /** Turns the end of a device's request into the outcome of the task. */
    @FunctionalInterface
    interface Ending {
        void ended(ScsiTask task, @Nullable StorageException failure);
    }

    /** The nexus that sent the command. */
    Nexus nexus();

    /** The LUN that the initiator named. */
    Lun lun();

    /** The server that executes the command. */
    DeviceServer server();

    /** The CDB as it came, additional bytes of an extended CDB included. */
    MemorySegment cdbBytes();

    /** The command, once it is accepted; for a plain one a record is made at each call. */
    Cdb cdb();

    /** Whether the command was accepted as a plain READ or WRITE: its fields are read in {@link #cdbBytes}. */
    boolean isPlain();

    /** Bytes that the initiator expects to send. */
    int expectedOutBytes();

    /** Whether the initiator has said that there are data-out (the W bit), even of no bytes. */
    boolean declaresDataOut();

    /** Whether the task has been aborted: it must still be ended, but its outcome is not reported. Any thread. */
    boolean aborted();

    /** Runs something on the loop when the task is aborted, at once if it has been: to end what would last long. */
    void whenAborted(Runnable what);

    /** Accepts the command at its arrival: so many bytes of data-out will be needed to execute it. */
    void accept(Cdb decoded, long dataOutBytes);

    /**
     * Like {@link #accept}, but for a {@linkplain lunar.scsi.block.BlockCdb#isPlain plain} READ or WRITE, and no
     * record.
     */
    void acceptPlain(long dataOutBytes);

    /** Refuses the command at its arrival; it ends with this sense once its unsolicited data have come. */
    void refuse(Sense why);

    /** The data-out that came: what the CDB wants or the initiator expected to send, whichever is less. */
    MemorySegment dataOut();

    /**
     * Room for data-in, of exactly so many bytes with any content. Null where there is no memory, then end with BUSY:
     * not an Optional, which each command would allocate.
     */
    @Nullable
    MemorySegment roomForDataIn(int bytes);

    /**
     * Has the data-in sent from the device itself, from this place on, instead of from {@link #roomForDataIn}; then end
     * with {@link #good(int)}. False where the connection cannot do that.
     */
    boolean transferDataIn(BlockDevice from, long offsetBytes);

    /**
     * Borrows memory besides the task's own; the caller gives it back before the end. Null where there is none: not an
     * Optional, which each command would allocate.
     */
    Buffers.@Nullable Buffer borrow(int bytes);

    /** Gives back borrowed memory. On the loop's thread. */
    void giveBack(Buffers.Buffer borrowed);

    /** Ends with GOOD and no data. */
    void good();

    /** Ends with GOOD and the first bytes of {@link #roomForDataIn}. */
    void good(int dataIn);

    /** Ends with GOOD and parameter data, cut to the allocation length (SPC-5 section 4.2.5.6). */
    void good(byte[] parameterData, long allocationLength);

    /** Ends with CHECK CONDITION. */
    void checkCondition(Sense why);

    /** Ends with a status that has neither data nor sense. */
    void end(Status with);

    /** The one request that the task may have at a device at a time. */
    BlockRequest request();

    /** Gives {@link #request} to the device; {@code then} runs on the loop with its outcome. */
    void submit(BlockDevice device, Ending then);

    /** Like {@link #submit}, for a command in many pieces: others of the loop get their turn between two of them. */
    void submitPiece(BlockDevice device, Ending then);

    /**
     * Runs something that may block (a copy, a write of state to disk) on a thread of its own; what it returns runs
     * on the loop and ends the task. A {@link StorageException} or
     * {@link lunar.scsi.IllegalRequestException} that it throws ends the task with its sense, another exception with
     * HARDWARE ERROR. Long work looks at {@link #aborted} between two pieces.
     */
    void work(Callable<Consumer<ScsiTask>> blocking);
}
