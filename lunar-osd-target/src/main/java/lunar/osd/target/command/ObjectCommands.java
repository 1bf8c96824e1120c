package lunar.osd.target.command;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import lunar.block.OutOfRangeException;
import lunar.block.StorageException;
import lunar.block.Usage;
import lunar.osd.store.ObjectReader;
import lunar.osd.store.ObjectWriter;
import lunar.osd.store.Timestamp;
import lunar.osd.target.attribute.Quota;
import lunar.osd.target.attribute.RefusedException;
import lunar.osd.target.attribute.SecretPage;
import lunar.osd.target.attribute.Values;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.command.AttributesCommand;
import lunar.osd.wire.command.CreateCommand;
import lunar.osd.wire.command.CreatePartitionCommand;
import lunar.osd.wire.command.FormatOsdCommand;
import lunar.osd.wire.command.RemoveCommand;
import lunar.scsi.AdditionalSense;

/** Commands that create and remove objects, and those that get and set attributes alone. */
final class ObjectCommands {
    private ObjectCommands() {}

    static void format(CommandRun run, FormatOsdCommand command)
            throws StorageException, RefusedException {
        Usage usage = run.store().usage();
        long total = usage.usedBytes() + usage.availableBytes();
        if (Long.compareUnsigned(command.capacity(), total) > 0) {
            throw RefusedException.field(CdbFieldAt.length(command));
        }
        run.phases().check(ObjectType.ROOT, true);
        run.change(objects -> {
            List<Attribute> secrets = SecretPage.ofRoot(objects);
            objects.clear();
            for (Attribute secret : secrets) {
                objects.setAttribute(ObjectId.ROOT, secret.id(), secret.value());
            }
            if (command.capacity() != 0) {
                objects.setAttribute(ObjectId.ROOT, Quota.FORMATTED_CAPACITY,
                        Values.int64(command.capacity()));
            }
            return List.of(ObjectId.ROOT);
        });
        run.device().settings().clear();
        run.device().lists().changed();
        run.store().flush();
    }

    static void createPartition(CommandRun run, CreatePartitionCommand command)
            throws StorageException, RefusedException {
        run.phases().check(ObjectType.PARTITION, false);
        run.change(objects -> {
            long id = command.partition() == 0 ? objects.freeIds(0, 1) : command.partition();
            var partition = ObjectId.ofPartition(id);
            if (isReserved(id) || objects.find(partition).isPresent()) {
                throw RefusedException.field(CdbFieldAt.PARTITION);
            }
            Quota.PARTITION_COUNT.limit(objects, ObjectId.ROOT)
                    .check(objects.partitionCount() + 1);
            objects.create(partition, ObjectType.PARTITION, run.nowMs());
            run.current().object(ObjectType.PARTITION, partition);
            return List.of(partition);
        });
        created(run, ObjectId.ROOT);
    }

    /** Identifiers below the first are not those of objects that initiators create. */
    private static boolean isReserved(long id) {
        return Long.compareUnsigned(id, ObjectId.FIRST) < 0;
    }

    static void create(CommandRun run, CreateCommand command)
            throws StorageException, RefusedException {
        run.phases().check(ObjectType.USER_OBJECT, false);
        int count = command.objectCount();
        try (var staged = new StagedObject()) {
            if (run.requests().length().isPresent()) {
                long length = run.checkedLength();
                run.settings().check(command.object(), length, length, length);
                stageZeros(run, staged, count);
            }
            run.change(objects -> {
                long first = admit(run, objects, command.object(), count);
                staged.check(objects, command.object(), run.settings());
                var ids = new ArrayList<ObjectId>();
                for (int i = 0; i < count; i++) {
                    var id = new ObjectId(command.object().partition(), first + i);
                    if (staged.isEmpty()) {
                        objects.create(id, ObjectType.USER_OBJECT, run.nowMs());
                    } else {
                        objects.create(id, staged.get(i), run.nowMs());
                    }
                    ids.add(id);
                }
                run.current().object(ObjectType.USER_OBJECT, ids.getLast());
                return ids;
            });
        }
        created(run, ObjectId.ofPartition(command.object().partition()));
    }

    private static void stageZeros(CommandRun run, StagedObject staged, int count)
            throws StorageException, RefusedException {
        try {
            for (int i = 0; i < count; i++) {
                staged.zeros(run.store(), run.checkedLength());
            }
        } catch (OutOfRangeException _) {
            throw run.refusedLength();
        }
    }

    /**
     * Admits objects that are about to be created in a partition, which has to have room for them.
     *
     * @param requested the requested object; without an identifier the device chooses consecutive ones
     * @return the identifier of the first
     */
    static long admit(CommandRun run, ObjectReader objects, ObjectId requested, int count)
            throws StorageException, RefusedException {
        long partition = Existing.partition(objects, requested.partition()).id().partition();
        long first = requested.object() == 0
                ? objects.freeIds(partition, count)
                : requested.object();
        boolean taken = requested.object() != 0
                && (isReserved(first) || objects.find(requested).isPresent());
        if (taken) {
            throw RefusedException.field(CdbFieldAt.OBJECT);
        }
        Quota.OBJECT_COUNT.limit(objects, requested)
                .check(Quota.objectCount(objects, partition) + count);
        return first;
    }

    /** Ends a command that has created or removed objects in another one. */
    static void created(CommandRun run, ObjectId container) throws StorageException {
        run.device().lists().changed();
        run.touch(container, EnumSet.of(Timestamp.DATA_MODIFIED));
    }

    static void remove(CommandRun run, RemoveCommand command)
            throws StorageException, RefusedException {
        ObjectId object = command.object();
        ObjectType type = switch (command.action()) {
            case REMOVE_PARTITION -> ObjectType.PARTITION;
            case REMOVE_COLLECTION -> ObjectType.COLLECTION;
            default -> ObjectType.USER_OBJECT;
        };
        run.phases().check(type, false);
        run.changeLast(objects -> {
            long length = Existing.of(objects, object, type).length();
            run.current().object(type, object);
            run.current().grown(-length);
            if (!command.force() && contents(objects, object, type) != 0) {
                throw RefusedException.illegal(AdditionalSense.CONTAINS_USER_OBJECTS);
            }
            return List.of(object);
        }, objects -> {
            objects.remove(object);
            return List.of();
        });
        if (type == ObjectType.USER_OBJECT) {
            run.device().settings().forget(object);
        } else {
            run.device().settings().clear();
        }
        created(run, type == ObjectType.PARTITION
                ? ObjectId.ROOT
                : ObjectId.ofPartition(object.partition()));
    }

    private static long contents(ObjectWriter objects, ObjectId object, ObjectType type)
            throws StorageException {
        return switch (type) {
            case PARTITION -> Quota.objectCount(objects, object.partition());
            case COLLECTION -> objects.memberCount(object);
            default -> 0;
        };
    }

    static void getAttributes(CommandRun run, AttributesCommand command)
            throws StorageException, RefusedException {
        run.getThenSet(command.object());
    }

    static void setAttributes(CommandRun run, AttributesCommand command)
            throws StorageException, RefusedException {
        run.setThenGet(command.object());
    }
}
