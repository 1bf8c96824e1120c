package lunar.osd.target;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.StorageException;
import lunar.scsi.Cdb;
import lunar.scsi.IllegalRequestException;
import lunar.scsi.Lun;
import lunar.scsi.Sense;
import lunar.scsi.Status;
import lunar.scsi.target.Buffers;
import lunar.scsi.target.DeviceServer;
import lunar.scsi.target.Nexus;
import lunar.scsi.target.ScsiTask;
import org.jspecify.annotations.Nullable;

/** A task whose data are there from the start, and whose caller waits for its work. */
final class ScriptedTask implements ScsiTask {
    private final Nexus nexus;
    private final DeviceServer server;
    private final byte[] cdbBytes;
    private final byte[] out;
    private final int expectedIn;
    private int memory;
    private @Nullable Cdb cdb;
    private long dataOutBytes;
    private @Nullable Sense refusal;
    private @Nullable MemorySegment room;
    private @Nullable Reply reply;
    private boolean aborted;
    private int checksLeft;

    /** @param memory bytes that are available for data-in */
    ScriptedTask(Nexus nexus, DeviceServer server, byte[] cdb, byte[] out, int expectedIn,
            int memory) {
        this.nexus = nexus;
        this.server = server;
        this.memory = memory;
        cdbBytes = cdb;
        this.out = out;
        this.expectedIn = expectedIn;
    }

    /** Has the device server execute the command. */
    Reply run() {
        server.prepare(this);
        if (refusal != null) {
            end(Status.CHECK_CONDITION, refusal, 0);
        } else {
            server.execute(this);
            server.ended(this);
        }
        return Objects.requireNonNull(reply, "the command has not ended");
    }

    private void end(Status status, @Nullable Sense sense, int dataIn) {
        if (reply != null) {
            throw new AssertionError("the command ended twice");
        }
        int there = Math.min(dataIn, expectedIn);
        if (there > (room == null ? 0 : room.byteSize())) {
            throw new AssertionError(dataIn + " bytes of data-in in " + room);
        }
        byte[] data = room == null
                ? new byte[0]
                : room.asSlice(0, there).toArray(ValueLayout.JAVA_BYTE);
        reply = new Reply(status, sense == null ? Sense.NONE : sense, data, dataIn,
                room == null ? 0 : room.byteSize());
    }

    void abort() { aborted = true; }

    /** Aborts the task when it asks for the given time whether it is, counted from 1. */
    ScriptedTask abortAtCheck(int check) {
        checksLeft = check;
        return this;
    }

    /** Sets how many bytes are available for data-in. */
    void memory(int bytes) { memory = bytes; }

    @Override
    public Nexus nexus() { return nexus; }

    @Override
    public Lun lun() { return Lun.ZERO; }

    @Override
    public DeviceServer server() { return server; }

    @Override
    public MemorySegment cdbBytes() { return MemorySegment.ofArray(cdbBytes); }

    @Override
    public Cdb cdb() { return Objects.requireNonNull(cdb); }

    @Override
    public boolean isPlain() { return false; }

    @Override
    public int expectedOutBytes() { return out.length; }

    @Override
    public int expectedInBytes() { return expectedIn; }

    @Override
    public boolean declaresDataOut() { return out.length > 0; }

    @Override
    public boolean aborted() {
        aborted = aborted || checksLeft > 0 && --checksLeft == 0;
        return aborted;
    }

    @Override
    public void whenAborted(Runnable what) {
        if (aborted) {
            what.run();
        }
    }

    @Override
    public void accept(Cdb decoded, long needed) {
        cdb = decoded;
        dataOutBytes = Math.min(needed, out.length);
    }

    @Override
    public void acceptPlain(long needed) { throw new AssertionError("a plain command"); }

    @Override
    public void refuse(Sense why) { refusal = why; }

    @Override
    public MemorySegment dataOut() {
        return dataOutBytes == 0
                ? MemorySegment.NULL
                : MemorySegment.ofArray(out).asSlice(0, dataOutBytes);
    }

    @Override
    public @Nullable MemorySegment roomForDataIn(int bytes) {
        if (bytes > memory) {
            return null;
        }
        byte[] array = new byte[bytes];
        Arrays.fill(array, (byte) 0x5a); // the content is undefined
        room = MemorySegment.ofArray(array);
        return room;
    }

    @Override
    public boolean transferDataIn(BlockDevice from, long offsetBytes) { return false; }

    @Override
    public Buffers.@Nullable Buffer borrow(int bytes) { return null; }

    @Override
    public void giveBack(Buffers.Buffer borrowed) { throw new AssertionError("not borrowed"); }

    @Override
    public void good() { end(Status.GOOD, null, 0); }

    @Override
    public void good(int dataIn) { end(Status.GOOD, null, dataIn); }

    @Override
    public void good(byte[] parameterData, long allocationLength) {
        int length = (int) Math.min(parameterData.length, allocationLength);
        MemorySegment target = roomForDataIn(Math.min(length, expectedIn));
        if (target == null) {
            end(Status.BUSY);
            return;
        }
        MemorySegment.copy(MemorySegment.ofArray(parameterData), 0, target, 0,
                target.byteSize());
        good(length);
    }

    @Override
    public void checkCondition(Sense why) { end(Status.CHECK_CONDITION, why, 0); }

    @Override
    public void checkCondition(Sense why, int dataIn) { end(Status.CHECK_CONDITION, why, dataIn); }

    @Override
    public void end(Status with) { end(with, null, 0); }

    @Override
    public BlockRequest request() { return new BlockRequest(); }

    @Override
    public void submit(BlockDevice device, Ending then) { throw new AssertionError(device); }

    @Override
    public void submitPiece(BlockDevice device, Ending then) { throw new AssertionError(device); }

    /** Fails the test if the work does, other than by an error of the store or the initiator. */
    @Override
    public void work(Callable<Consumer<ScsiTask>> blocking) {
        Consumer<ScsiTask> outcome;
        try {
            outcome = blocking.call();
        } catch (StorageException | IllegalRequestException e) {
            throw new AssertionError("no object in the sense data", e);
        } catch (Exception e) {
            throw new AssertionError("an exception left the device", e);
        }
        outcome.accept(this);
    }

    @Override
    public void workBriefly(Executor executor, Callable<Consumer<ScsiTask>> blocking) {
        work(executor, blocking);
    }

    @Override
    public void work(Executor executor, Callable<Consumer<ScsiTask>> blocking) {
        var done = new FutureTask<>(blocking);
        try {
            executor.execute(done);
        } catch (RejectedExecutionException _) {
            end(Status.BUSY);
            return;
        }
        work(() -> {
            try {
                return done.get();
            } catch (ExecutionException e) {
                if (e.getCause() instanceof Exception cause) {
                    throw cause;
                }
                throw e;
            }
        });
    }
}
