package lunar.osd.target.command;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.List;
import java.util.OptionalLong;
import lunar.block.StorageException;
import lunar.osd.store.ObjectReader;
import lunar.osd.store.Timestamp;
import lunar.osd.target.attribute.RefusedException;
import lunar.osd.target.attribute.Values;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.ObjectAttributes;
import lunar.osd.wire.command.ListCommand;
import lunar.osd.wire.data.ListHeader;
import lunar.scsi.Bytes;

/**
 * LIST and LIST COLLECTION. Identifiers are read in batches and written to data-in at once, so that a long list needs
 * no memory beside it.
 */
final class ListCommands {
    private static final int ID_LENGTH = 8;
    /** Bytes of the field of the additional length, which does not count itself. */
    private static final int UNCOUNTED = 8;

    /** Source of a list: identifiers of objects of one type. */
    private interface Source {
        ObjectType type();

        List<Long> ids(long from, int max) throws StorageException;

        long count() throws StorageException;

        ObjectId object(long id);
    }

    /** The part of a list that is in the reply. */
    private static final class Reply {
        private final DataIn in;
        private final long allocationLength;
        private long at = ListHeader.LENGTH;
        private long continuation;
        private long leftOut; // bytes

        Reply(DataIn in, long allocationLength) {
            this.in = in;
            this.allocationLength = allocationLength;
        }

        /** Whether an entry did not fit, with which the list continues. */
        boolean isCut() {
            return leftOut > 0;
        }

        /** Adds an entry; returns false if it does not fit, so that the list continues with it. */
        boolean add(long id, byte[] entry) {
            if (at + entry.length > allocationLength) {
                continuation = id;
                return false;
            }
            in.put(at, entry);
            at += entry.length;
            return true;
        }
    }

    private ListCommands() {}

    static void execute(CommandRun run, ListCommand command)
            throws StorageException, RefusedException {
        boolean changed = run.device().lists().hasChanged(command);
        run.query(objects -> {
            Source source = source(objects, command);
            long allocation = run.device().limits().allocation(command.allocationLength());
            var reply = new Reply(run.in(), allocation);
            fill(run, command, objects, source, reply);
            run.in().put(header(run, command, source, reply, changed).toArray(), allocation);
            run.in().dataLength(Math.min(reply.at, allocation));
        });
        run.touch(command.object(), EnumSet.of(Timestamp.DATA_ACCESSED));
    }

    private static void fill(CommandRun run, ListCommand command, ObjectReader objects,
            Source source, Reply reply) throws StorageException, RefusedException {
        long from = command.initialId();
        long added = 0;
        long last = 0;
        while (!run.isAborted()) {
            List<Long> ids = source.ids(from, OsdLimits.BATCH);
            for (long id : ids) {
                byte[] entry = command.withAttributes()
                        ? entry(run, objects, source.object(id))
                        : Values.int64(id).toArray();
                if (!reply.add(id, entry)) {
                    long left = Math.max(1, count(run, command, source) - added);
                    if (added > 0) {
                        run.device().lists().left(command.object(), source.type(), last, id, left);
                    }
                    reply.leftOut = left * (command.withAttributes()
                            ? new ObjectAttributes(id, source.type(), List.of()).length()
                            : ID_LENGTH);
                    return;
                }
                added++;
                last = id;
            }
            if (ids.size() < OsdLimits.BATCH || ids.getLast() == -1) {
                return;
            }
            from = ids.getLast() + 1;
        }
    }

    /**
     * Returns the number of objects from the initial identifier on. It is counted only if the list neither begins at
     * the first nor continues another: counting for each part would make long lists take a time that grows with the
     * square of their length.
     */
    private static long count(CommandRun run, ListCommand command, Source source)
            throws StorageException {
        long from = command.initialId();
        if (Long.compareUnsigned(from, ObjectId.FIRST) <= 0) {
            return source.count();
        }
        OptionalLong known = run.device().lists().left(command.object(), source.type(), from);
        if (known.isPresent()) {
            return known.getAsLong();
        }
        long count = 0;
        while (!run.isAborted()) {
            List<Long> ids = source.ids(from, OsdLimits.BATCH);
            count += ids.size();
            if (ids.size() < OsdLimits.BATCH || ids.getLast() == -1) {
                break;
            }
            from = ids.getLast() + 1;
        }
        return count;
    }

    private static byte[] entry(CommandRun run, ObjectReader objects, ObjectId id)
            throws StorageException, RefusedException {
        ObjectAttributes entry = run.phases().of(objects, Existing.any(objects, id));
        byte[] bytes = new byte[entry.length()];
        long _ = entry.encode(MemorySegment.ofArray(bytes), 0);
        return bytes;
    }

    /**
     * The header. Its additional length is that of the list from the initial identifier on, whether all of it is in the
     * reply or not; of entries that are left out, attributes do not count, because nothing has read them.
     */
    private static Bytes header(CommandRun run, ListCommand command, Source source,
            Reply reply, boolean changed) {
        boolean complete = !reply.isCut();
        ListRegistry lists = run.device().lists();
        long identifier = command.listIdentifier();
        if (complete) {
            lists.end(identifier);
        } else if (identifier == 0) {
            identifier = lists.begin(command.object());
        }
        long additional = reply.at - UNCOUNTED + reply.leftOut;
        byte[] header = new byte[ListHeader.LENGTH];
        new ListHeader(command.common().version(), additional, reply.continuation, identifier,
                source.type(), command.withAttributes(), changed)
                .encode(MemorySegment.ofArray(header));
        return Bytes.of(header);
    }

    private static Source source(ObjectReader objects, ListCommand command)
            throws StorageException, RefusedException {
        ObjectId object = command.object();
        if (command.action() == ServiceAction.LIST) {
            return object.isRoot()
                    ? new Partitions(objects)
                    : new InPartition(objects, partition(objects, object),
                            ObjectType.USER_OBJECT);
        }
        long partition = partition(objects, object);
        if (object.object() == 0) {
            return new InPartition(objects, partition, ObjectType.COLLECTION);
        }
        var _ = Existing.of(objects, object, ObjectType.COLLECTION);
        return new Members(objects, object);
    }

    private static long partition(ObjectReader objects, ObjectId object)
            throws StorageException, RefusedException {
        return Existing.partition(objects, object.partition()).id().partition();
    }

    private record Partitions(ObjectReader objects) implements Source {
        @Override
        public ObjectType type() { return ObjectType.PARTITION; }

        @Override
        public List<Long> ids(long from, int max) throws StorageException {
            return objects.partitions(from, max);
        }

        @Override
        public long count() throws StorageException { return objects.partitionCount(); }

        @Override
        public ObjectId object(long id) { return ObjectId.ofPartition(id); }
    }

    private record InPartition(ObjectReader objects, long partition, ObjectType type)
            implements
            Source {
        @Override
        public List<Long> ids(long from, int max) throws StorageException {
            return objects.objects(partition, type, from, max);
        }

        @Override
        public long count() throws StorageException { return objects.objectCount(partition, type); }

        @Override
        public ObjectId object(long id) { return new ObjectId(partition, id); }
    }

    private record Members(ObjectReader objects, ObjectId collection) implements Source {
        @Override
        public ObjectType type() { return ObjectType.USER_OBJECT; }

        @Override
        public List<Long> ids(long from, int max) throws StorageException {
            return objects.members(collection, from, max);
        }

        @Override
        public long count() throws StorageException { return objects.memberCount(collection); }

        @Override
        public ObjectId object(long id) { return new ObjectId(collection.partition(), id); }
    }
}
