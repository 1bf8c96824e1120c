package lunar.osd.target.command;

import java.util.List;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.osd.store.ObjectReader;
import lunar.osd.target.attribute.RefusedException;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.command.StructureCheckCommand;

/** OBJECT STRUCTURE CHECK: checks that the name space of a partition, or of the device, is consistent. */
final class StructureCheck {
    /** Checks identifiers in a query of its own, in batches; returns the last one of a full batch. */
    @FunctionalInterface
    private interface Batch {
        List<Long> check(ObjectReader objects, long from)
                throws StorageException, RefusedException;
    }

    private StructureCheck() {}

    static void execute(CommandRun run, StructureCheckCommand command)
            throws StorageException, RefusedException {
        run.begin();
        long partition = command.object().partition();
        if (partition == 0) {
            inBatches(run, (objects, from) -> {
                List<Long> partitions = objects.partitions(from, OsdLimits.BATCH);
                for (long each : partitions) {
                    require(objects, ObjectId.ofPartition(each), ObjectType.PARTITION);
                }
                return partitions;
            });
        } else {
            run.querying(objects -> {
                var _ = Existing.partition(objects, partition);
            });
            checkObjects(run, partition, ObjectType.USER_OBJECT);
            checkObjects(run, partition, ObjectType.COLLECTION);
        }
        run.attributes(command.object());
    }

    private static void checkObjects(CommandRun run, long partition, ObjectType type)
            throws StorageException, RefusedException {
        inBatches(run, (objects, from) -> {
            List<Long> ids = objects.objects(partition, type, from, OsdLimits.BATCH);
            for (long id : ids) {
                var object = new ObjectId(partition, id);
                require(objects, object, type);
                if (type == ObjectType.COLLECTION) {
                    checkMembers(run, objects, object);
                }
            }
            return ids;
        });
    }

    private static void checkMembers(CommandRun run, ObjectReader objects, ObjectId collection)
            throws StorageException {
        var members = new Members(objects, collection, run::isAborted);
        for (List<Long> ids = members.next(); !ids.isEmpty(); ids = members.next()) {
            for (long id : ids) {
                require(objects, new ObjectId(collection.partition(), id),
                        ObjectType.USER_OBJECT);
            }
        }
    }

    private static void require(ObjectReader objects, ObjectId id, ObjectType type)
            throws StorageException {
        if (objects.find(id).filter(found -> found.type() == type).isEmpty()) {
            throw new MediumException("object store: no " + type + " " + id
                    + ", which a list of objects has; check the store");
        }
    }

    private static void inBatches(CommandRun run, Batch batch)
            throws StorageException, RefusedException {
        long from = 0;
        while (!run.isAborted()) {
            long first = from;
            List<Long> ids = run.store().<List<Long>, RefusedException>query(
                    objects -> batch.check(objects, first));
            if (ids.size() < OsdLimits.BATCH || ids.getLast() == -1) {
                return;
            }
            from = ids.getLast() + 1;
        }
    }
}
