package lunar.osd.target.command;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.List;
import lunar.block.OutOfRangeException;
import lunar.block.StorageException;
import lunar.osd.store.StagedData;
import lunar.osd.store.Timestamp;
import lunar.osd.target.attribute.RefusedException;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.command.ByteRangeCommand;
import lunar.osd.wire.data.ContinuationDescriptor.ScatterGather.Extent;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;

/** Commands that read and write the data of user objects. Data move between the store and the task's memory. */
final class DataCommands {
    private DataCommands() {}

    /** Performs a command on the data; measures by how much these grow, if the initiator wants to know. */
    static void execute(CommandRun run, ByteRangeCommand command)
            throws StorageException, RefusedException {
        if (command.action() == ServiceAction.CREATE_AND_WRITE) {
            createAndWrite(run, command);
            return;
        }
        run.begin();
        ObjectId object = command.object();
        boolean measures = run.requests().getCurrentCommand();
        long before = measures ? run.store().length(object) : 0;
        switch (command.action()) {
            case READ -> read(run, command);
            case WRITE -> write(run, object);
            case APPEND -> append(run, object);
            case CLEAR -> run.store().zero(object, command.startByte(), command.byteCount(),
                    run.settings(), run::isAborted);
            default -> punch(run, command);
        }
        if (measures) {
            run.current().grown(run.store().length(object) - before);
        }
        boolean reads = command.action() == ServiceAction.READ;
        run.touch(object, EnumSet.of(reads ? Timestamp.DATA_ACCESSED : Timestamp.DATA_MODIFIED));
        run.attributes(object);
        boolean changes = !reads || !run.requests().sets().isEmpty();
        if (changes && command.common().options().fua()) {
            run.store().flush(object);
        }
    }

    private static void read(CommandRun run, ByteRangeCommand command) throws StorageException {
        ObjectId object = command.object();
        long at = 0;
        long present = 0;
        boolean past = false;
        for (Extent extent : run.out().extents()) {
            long read = read(run, object, extent, run.in().data(at, extent.length()));
            past |= read < extent.length();
            present += read;
            at += extent.length();
        }
        boolean alone = run.out().extents().size() == 1 && !run.in().retrieves();
        run.in().dataLength(past && alone ? present : at);
        if (past) {
            run.report(Sense.of(SenseKey.RECOVERED_ERROR,
                    AdditionalSense.READ_PAST_END_OF_USER_OBJECT).withCommandSpecific(present));
        }
    }

    /**
     * Reads a range into memory for as much of it as the initiator receives, and zeros what is behind the data. Returns
     * the bytes of the range that the object has, received or not.
     */
    private static long read(CommandRun run, ObjectId object, Extent extent, MemorySegment target)
            throws StorageException {
        if (target.byteSize() == 0) { // the object has to exist
            return within(extent, run.store().length(object));
        }
        long read = run.store().read(object, extent.offset(), target);
        if (read < target.byteSize()) {
            target.asSlice(read).fill((byte) 0);
            return read;
        }
        return read == extent.length() ? read : within(extent, run.store().length(object));
    }

    /** Returns how many bytes of a range are within the length of an object. */
    private static long within(Extent extent, long length) {
        return Math.clamp(length - extent.offset(), 0, extent.length());
    }

    private static void write(CommandRun run, ObjectId object)
            throws StorageException, RefusedException {
        MemorySegment data = run.out().data();
        long at = 0;
        for (Extent extent : run.out().extents()) {
            run.store().write(object, extent.offset(), data.asSlice(at, extent.length()),
                    run.settings());
            at += extent.length();
        }
    }

    private static void append(CommandRun run, ObjectId object)
            throws StorageException, RefusedException {
        run.current().appendStart(
                run.store().append(object, run.out().data(), run.settings()));
    }

    private static void punch(CommandRun run, ByteRangeCommand command)
            throws StorageException, RefusedException {
        if (command.startByte() > run.store().length(command.object())) {
            throw RefusedException.field(CdbFieldAt.start(command));
        }
        run.store().punch(command.object(), command.startByte(), count(command),
                run::isAborted);
    }

    /** Returns the bytes of a range. PUNCH may reach past the end, even past the largest address. */
    static long count(ByteRangeCommand command) {
        long count = command.byteCount();
        long most = Long.MAX_VALUE - command.startByte();
        return command.action() == ServiceAction.PUNCH && command.startByte() >= 0
                && Long.compareUnsigned(count, most) > 0 ? most : count;
    }

    /** The data are staged, so that a crash leaves the whole object or none. */
    private static void createAndWrite(CommandRun run, ByteRangeCommand command)
            throws StorageException, RefusedException {
        run.phases().check(ObjectType.USER_OBJECT, false);
        ObjectId requested = command.object();
        long end = 0;
        for (Extent extent : run.out().extents()) {
            end = Math.max(end, extent.offset() + extent.length());
        }
        run.settings().check(requested, end, end, end); // before it takes space
        var created = new ObjectId[1];
        try (var staged = new StagedObject()) {
            StagedData data = staged.stage(run.store());
            stage(run, data);
            run.change(objects -> {
                var id = new ObjectId(requested.partition(),
                        ObjectCommands.admit(run, objects, requested, 1));
                staged.check(objects, requested, run.settings());
                objects.create(id, data, run.nowMs());
                run.current().object(ObjectType.USER_OBJECT, id);
                run.current().grown(data.length());
                created[0] = id;
                return List.of(id);
            });
        }
        ObjectCommands.created(run, ObjectId.ofPartition(requested.partition()));
        if (command.common().options().fua()) {
            run.store().flush(created[0]);
        }
    }

    /** Stages the data, as far as a length that is set by its attribute; zeros up to there. */
    private static void stage(CommandRun run, StagedData staged)
            throws StorageException, RefusedException {
        boolean cut = run.requests().length().isPresent();
        long length = cut ? run.checkedLength() : Long.MAX_VALUE;
        MemorySegment data = run.out().data();
        long at = 0;
        for (Extent extent : run.out().extents()) {
            long bytes = Math.max(0, Math.min(extent.length(), length - extent.offset()));
            if (bytes > 0) {
                staged.write(extent.offset(), data.asSlice(at, bytes));
            }
            at += extent.length();
        }
        if (cut && staged.length() < length) {
            try {
                staged.write(length - 1, MemorySegment.ofArray(new byte[1]));
            } catch (OutOfRangeException _) {
                throw run.refusedLength();
            }
        }
    }
}
