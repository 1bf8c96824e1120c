package lunar.osd.target.command;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.osd.wire.command.PerformScsiCommand;
import lunar.scsi.Cdb;
import lunar.scsi.Lun;
import lunar.scsi.Sense;
import lunar.scsi.Status;
import lunar.scsi.target.Buffers;
import lunar.scsi.target.DeviceServer;
import lunar.scsi.target.Nexus;
import lunar.scsi.target.ScsiTask;
import org.jspecify.annotations.Nullable;

/**
 * The command in a PERFORM SCSI COMMAND: a task of its own for the device server, with the data, the end and the
 * allegiance of the task around it. Confined to the loop of that task.
 */
final class EmbeddedTask implements ScsiTask {
    private final ScsiTask outer;
    private final MemorySegment bytes;
    private @Nullable Cdb cdb;
    private long dataOutBytes;
    private @Nullable Sense refusal;

    EmbeddedTask(ScsiTask outer, PerformScsiCommand command) {
        this.outer = outer;
        bytes = command.cdb().segment();
    }

    /** Has the device server execute the command; ends the task around it. */
    void execute() {
        outer.server().prepare(this);
        Sense why = refusal;
        if (why != null || cdb == null) {
            outer.checkCondition(why == null ? DATA_OUT_TOO_SHORT : why);
        } else {
            outer.server().execute(this);
        }
    }

    @Override
    public Nexus nexus() { return outer.nexus(); }

    @Override
    public Lun lun() { return outer.lun(); }

    @Override
    public DeviceServer server() { return outer.server(); }

    @Override
    public MemorySegment cdbBytes() { return bytes; }

    @Override
    public Cdb cdb() {
        Cdb decoded = cdb;
        if (decoded == null) {
            throw new IllegalStateException("not accepted");
        }
        return decoded;
    }

    @Override
    public boolean isPlain() { return false; }

    @Override
    public int expectedOutBytes() { return outer.expectedOutBytes(); }

    @Override
    public int expectedInBytes() { return outer.expectedInBytes(); }

    @Override
    public boolean declaresDataOut() { return outer.declaresDataOut(); }

    @Override
    public boolean aborted() { return outer.aborted(); }

    @Override
    public void whenAborted(Runnable what) { outer.whenAborted(what); }

    @Override
    public void accept(Cdb decoded, long needed) {
        cdb = decoded;
        dataOutBytes = needed;
    }

    @Override
    public void acceptPlain(long needed) { throw new IllegalStateException("no plain commands"); }

    @Override
    public void refuse(Sense why) { refusal = why; }

    @Override
    public MemorySegment dataOut() {
        MemorySegment all = outer.dataOut();
        return all.asSlice(0, Math.min(all.byteSize(), dataOutBytes));
    }

    @Override
    public @Nullable MemorySegment roomForDataIn(int needed) { return outer.roomForDataIn(needed); }

    @Override
    public boolean transferDataIn(BlockDevice from, long offsetBytes) {
        return outer.transferDataIn(from, offsetBytes);
    }

    @Override
    public Buffers.@Nullable Buffer borrow(int needed) { return outer.borrow(needed); }

    @Override
    public void giveBack(Buffers.Buffer borrowed) { outer.giveBack(borrowed); }

    @Override
    public void good() { outer.good(); }

    @Override
    public void good(int dataIn) { outer.good(dataIn); }

    @Override
    public void good(byte[] parameterData, long allocationLength) {
        outer.good(parameterData, allocationLength);
    }

    @Override
    public void checkCondition(Sense why) { outer.checkCondition(why); }

    @Override
    public void checkCondition(Sense why, int dataIn) { outer.checkCondition(why, dataIn); }

    @Override
    public void end(Status with) { outer.end(with); }

    @Override
    public BlockRequest request() { return outer.request(); }

    @Override
    public void submit(BlockDevice device, Ending then) { outer.submit(device, then); }

    @Override
    public void submitPiece(BlockDevice device, Ending then) { outer.submitPiece(device, then); }

    @Override
    public void work(Callable<Consumer<ScsiTask>> blocking) { outer.work(blocking); }

    @Override
    public void work(Executor executor, Callable<Consumer<ScsiTask>> blocking) {
        outer.work(executor, blocking);
    }

    @Override
    public void workBriefly(Executor executor, Callable<Consumer<ScsiTask>> blocking) {
        outer.workBriefly(executor, blocking);
    }
}
