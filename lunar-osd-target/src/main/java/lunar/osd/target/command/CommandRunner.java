package lunar.osd.target.command;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import lunar.block.BlockRequest;
import lunar.block.OutOfRangeException;
import lunar.block.StorageException;
import lunar.osd.store.NoSuchObjectException;
import lunar.osd.target.attribute.RefusedException;
import lunar.osd.target.security.Admission;
import lunar.osd.target.security.CommandSeal;
import lunar.osd.target.security.SecuredRequest;
import lunar.osd.wire.BufferPart;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.attribute.PageParameters;
import lunar.osd.wire.command.ByteRangeCommand;
import lunar.osd.wire.command.CreateCommand;
import lunar.osd.wire.command.ListCommand;
import lunar.osd.wire.command.OsdCdb;
import lunar.osd.wire.command.QueryCommand;
import lunar.osd.wire.command.ReadMapCommand;
import lunar.osd.wire.security.SecurityMethod;
import lunar.scsi.IllegalRequestException;
import lunar.scsi.Sense;
import lunar.scsi.Status;
import lunar.scsi.target.Access;
import lunar.scsi.target.ScsiTask;
import lunar.scsi.target.StorageSense;
import org.jspecify.annotations.Nullable;

/**
 * Executes commands: takes data-out apart and takes memory for data-in on the task's loop, runs the command there if it
 * is brief, otherwise on a thread of the device, and ends the task with its data or with sense data that name the
 * object.
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
        BufferPart integrity = device.security().dataInIntegrity(command)
                .orElse(BufferPart.NONE);
        DataOut out;
        try {
            out = DataOut.of(command, task.dataOut(), device.security()
                    .dataOutIntegrity(command).orElse(BufferPart.NONE));
            checkRetrieved(command, out, retrieved);
            checkIntegrity(command, dataInBytes(command, out, retrieved), integrity);
        } catch (IllegalRequestException e) {
            task.checkCondition(identified(e.sense(), command, progress));
            return;
        } catch (RefusedException e) {
            task.checkCondition(identified(e.sense(), command, progress));
            return;
        }
        MemorySegment room = room(task, Math.max(dataInBytes(command, out, retrieved),
                (int) integrity.end()));
        if (room == null) {
            task.end(Status.BUSY);
            return;
        }
        var in = new DataIn(room, retrieved);
        Callable<Consumer<ScsiTask>> work = () -> run(task, command, function, out, in, integrity,
                progress);
        if (!device.security().isOn()
                && BriefCommands.isBrief(command, task, out, device.store())) {
            task.workBriefly(device.threads(), work);
        } else {
            task.work(device.threads(), work);
        }
    }

    /** Executes a command whose data are not looked at, on the task's loop, if it is admitted. */
    void admit(ScsiTask task, OsdCdb command, Consumer<ScsiTask> function) {
        if (!device.security().isOn()) {
            function.accept(task);
            return;
        }
        task.work(device.threads(), () -> {
            Admission admission = device.security().admit(new SecuredRequest(command,
                    task.cdbBytes(), MemorySegment.NULL, BufferPart.NONE, List.of(), List.of(),
                    List.of(), List.of(), device.tokens().apply(task.nexus()),
                    task.nexus().toString()));
            return admission.refusal().<Consumer<ScsiTask>>map(sense -> refusal(sense, command,
                    new FunctionProgress(false, false), admission.seal())).orElse(function);
        });
    }

    private Admission admission(ScsiTask task, OsdCdb command, DataOut out,
            AttributeRequests requests) throws StorageException {
        return device.security().isOn()
                ? device.security().admit(new SecuredRequest(command, task.cdbBytes(),
                        out.bytes(), out.dataPart(), out.extents(), requests.ids(),
                        out.comparedAttributes(),
                        requests.sets().stream().map(set -> set.attribute().id()).toList(),
                        device.tokens().apply(task.nexus()), task.nexus().toString()))
                : Admission.FREE;
    }

    /** Refuses integrity information that is not behind all other data-in, or not there although the method has it. */
    private void checkIntegrity(OsdCdb command, int dataInBytes, BufferPart integrity)
            throws RefusedException {
        boolean needed = device.security().isOn() && dataInBytes > 0 && command.common()
                .capability().securityMethod() == SecurityMethod.ALLDATA.code();
        if (needed && integrity.offset() < dataInBytes) {
            throw RefusedException.field(CdbFieldAt.dataInIntegrity(command));
        }
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
            Function<C> function, DataOut out, DataIn in, BufferPart integrity,
            FunctionProgress progress) {
        CommandSeal seal = CommandSeal.NONE;
        try {
            AttributeRequests requests = AttributeRequests.decode(command.common().attributes(),
                    out, command.common().version());
            OsdLimits.checkSearches(requests.list(), command instanceof CreateCommand create
                    ? Math.max(1, create.objectCount())
                    : 1);
            Admission admission = admission(task, command, out, requests);
            seal = admission.seal();
            if (admission.refusal().isPresent()) {
                return refusal(admission.refusal().get(), command, progress, seal);
            }
            var run = new CommandRun(command, device, out, in, requests, progress, task::aborted);
            run.current().responseValue(seal.responseValue());
            progress.validated();
            try {
                function.run(run, command);
            } finally {
                changed(command);
            }
            boolean fua = OsdAccess.of(command) == Access.WRITE
                    && command.common().options().fua() && !(command instanceof ByteRangeCommand);
            boolean revokes = device.security().isOn() && requests.setPolicies();
            if (fua || revokes) {
                device.store().flush();
            }
            int bytes = finish(in, integrity, seal);
            if (run.condition().isPresent()) {
                Sense sense = seal.seal(identified(run.condition().get(), command, progress));
                return ended -> ended.checkCondition(sense, bytes);
            }
            return ended -> end(ended, bytes);
        } catch (IllegalRequestException e) {
            return refusal(e.sense(), command, progress, seal);
        } catch (RefusedException e) {
            return refusal(e.sense(), command, progress, seal);
        } catch (NoSuchObjectException e) {
            return refusal(missing(e.object()), command, progress, seal);
        } catch (OutOfRangeException _) {
            return refusal(Sense.invalidFieldInCdb(CdbFieldAt.start(command)), command, progress,
                    seal);
        } catch (StorageException e) {
            Sense sense = seal.seal(
                    identified(StorageSense.of(operation(command), e), command, progress));
            return ended -> StorageSense.end(ended, e, sense);
        }
    }

    /** Tells the security about changes of keys and partitions, whether they have succeeded or not. */
    private void changed(OsdCdb command) throws StorageException {
        switch (command.action()) {
            case SET_KEY, CREATE_PARTITION, REMOVE_PARTITION, FORMAT_OSD ->
                device.security().changed();
            default -> {
            }
        }
    }

    private static int finish(DataIn in, BufferPart integrity, CommandSeal seal) {
        return seal.sealsDataIn() && !integrity.isEmpty()
                ? in.finish(integrity, (data, retrieved) -> MemorySegment
                        .ofArray(seal.dataIn(data, retrieved)))
                : in.finish();
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
            FunctionProgress progress, CommandSeal seal) {
        Sense sealed = seal.seal(identified(sense, command, progress));
        return ended -> ended.checkCondition(sealed);
    }

    private static Sense identified(Sense sense, OsdCdb command, FunctionProgress progress) {
        return sense.withDescriptor(progress.identification(command.object()).descriptor());
    }
}
