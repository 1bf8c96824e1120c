package lunar.osd.target.command;

import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import lunar.block.BlockRequest;
import lunar.block.OutOfRangeException;
import lunar.block.StorageException;
import lunar.osd.store.NoSuchObjectException;
import lunar.osd.target.attribute.RefusedException;
import lunar.osd.wire.BufferPart;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.attribute.PageParameters;
import lunar.osd.wire.command.ByteRangeCommand;
import lunar.osd.wire.command.ListCommand;
import lunar.osd.wire.command.OsdCdb;
import lunar.osd.wire.command.QueryCommand;
import lunar.osd.wire.command.ReadMapCommand;
import lunar.scsi.IllegalRequestException;
import lunar.scsi.Sense;
import lunar.scsi.Status;
import lunar.scsi.target.Access;
import lunar.scsi.target.ScsiTask;
import lunar.scsi.target.StorageSense;
import org.jspecify.annotations.Nullable;

/**
 * Executes commands: takes data-out apart and takes memory for data-in on the task's loop, runs the command on a thread
 * of the device, and ends the task with its data or with sense data that name the object.
 */
final class CommandRunner {
    /** The function of a command. */
    @FunctionalInterface
    interface Function<C extends OsdCdb> {
        void run(CommandRun run, C command)
                throws StorageException, RefusedException, IllegalRequestException;
    }

    private final DeviceState device;

    CommandRunner(DeviceState device) { this.device = device; }

    /** Executes a command. */
    <C extends OsdCdb> void execute(ScsiTask task, C command, Function<C> function) {
        BufferPart retrieved = AttributeRequests.retrieved(command.common().attributes());
        var progress = new FunctionProgress(!retrieved.isEmpty(),
                AttributeRequests.sets(command.common().attributes()));
        DataOut out;
        try {
            out = DataOut.of(command, task.dataOut());
            checkRetrieved(command, out, retrieved);
        } catch (IllegalRequestException e) {
            task.checkCondition(identified(e.sense(), command, progress));
            return;
        } catch (RefusedException e) {
            task.checkCondition(identified(e.sense(), command, progress));
            return;
        }
        MemorySegment room = room(task, dataInBytes(command, out, retrieved));
        if (room == null) {
            task.end(Status.BUSY);
            return;
        }
        var in = new DataIn(room, retrieved);
        task.work(device.threads(), () -> run(task, command, function, out, in, progress));
    }

    /** Refuses retrieved attributes that would overwrite data. */
    private static void checkRetrieved(OsdCdb command, DataOut out, BufferPart retrieved)
            throws RefusedException {
        boolean overlap = !retrieved.isEmpty()
                && Long.compareUnsigned(dataBytes(command, out), retrieved.offset()) > 0;
        if (overlap) {
            throw RefusedException.field(
                    command.common().attributes() instanceof PageParameters
                            ? CdbFieldAt.PAGE_RETRIEVED_OFFSET
                            : CdbFieldAt.LIST_RETRIEVED_OFFSET);
        }
    }

    /** Bytes that the data of a command itself have in data-in, at most; unsigned. */
    private static long dataBytes(OsdCdb command, DataOut out) {
        return switch (command) {
            case ByteRangeCommand range -> range.hasDataIn() ? out.extentBytes() : 0;
            case ListCommand list -> list.allocationLength();
            case QueryCommand query -> query.allocationLength();
            case ReadMapCommand map -> map.allocationLength();
            default -> 0;
        };
    }

    private int dataInBytes(OsdCdb command, DataOut out, BufferPart retrieved) {
        long data = dataBytes(command, out);
        long bytes = data < 0 ? Long.MAX_VALUE : Math.max(data, retrieved.end());
        return (int) Math.min(bytes, device.limits().maxTransferBytes());
    }

    /** Takes memory for as much as the initiator receives; null if there is none. */
    private static @Nullable MemorySegment room(ScsiTask task,
            int bytes) {
        int received = Math.min(bytes, task.expectedInBytes());
        return received == 0 ? MemorySegment.NULL : task.roomForDataIn(received);
    }

    private <C extends OsdCdb> Consumer<ScsiTask> run(ScsiTask task, C command,
            Function<C> function, DataOut out, DataIn in, FunctionProgress progress) {
        try {
            AttributeRequests requests = AttributeRequests.decode(command.common().attributes(),
                    out, command.common().version());
            var run = new CommandRun(command, device, out, in, requests, progress, task::aborted);
            progress.validated();
            function.run(run, command);
            if (OsdAccess.of(command) == Access.WRITE && command.common().options().fua()
                    && !(command instanceof ByteRangeCommand)) {
                device.store().flush();
            }
            int bytes = in.finish();
            return run.condition().<Consumer<ScsiTask>>map(
                    sense -> ended -> ended.checkCondition(
                            identified(sense, command, progress), bytes))
                    .orElse(ended -> end(ended, bytes));
        } catch (IllegalRequestException e) {
            return refusal(e.sense(), command, progress);
        } catch (RefusedException e) {
            return refusal(e.sense(), command, progress);
        } catch (NoSuchObjectException e) {
            return refusal(missing(e.object()), command, progress);
        } catch (OutOfRangeException _) {
            return refusal(Sense.invalidFieldInCdb(CdbFieldAt.start(command)), command, progress);
        } catch (StorageException e) {
            return ended -> StorageSense.end(ended, e,
                    identified(StorageSense.of(operation(command), e), command, progress));
        }
    }

    private static void end(ScsiTask task, int bytes) {
        if (bytes == 0) {
            task.good();
        } else {
            task.good(bytes);
        }
    }

    private static BlockRequest.Operation operation(OsdCdb command) {
        return OsdAccess.of(command) == Access.WRITE
                ? BlockRequest.Operation.WRITE
                : BlockRequest.Operation.READ;
    }

    /** The sense data for an object that is not there; the field is that of the partition, if this is missing too. */
    private Sense missing(ObjectId object) {
        try {
            var partition = ObjectId.ofPartition(object.partition());
            boolean known = object.partition() != 0 && device.store()
                    .<Boolean, RuntimeException>query(
                            objects -> objects.find(partition).isPresent());
            return Sense.invalidFieldInCdb(known ? CdbFieldAt.OBJECT : CdbFieldAt.PARTITION);
        } catch (StorageException _) {
            return Sense.invalidFieldInCdb(CdbFieldAt.OBJECT);
        }
    }

    private static Consumer<ScsiTask> refusal(Sense sense, OsdCdb command,
            FunctionProgress progress) {
        return ended -> ended.checkCondition(identified(sense, command, progress));
    }

    private static Sense identified(Sense sense, OsdCdb command, FunctionProgress progress) {
        return sense.withDescriptor(progress.identification(command.object()).descriptor());
    }
}
