package lunar.osd.target.command;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import lunar.block.StorageException;
import lunar.osd.store.NoSuchObjectException;
import lunar.osd.store.ObjectReader;
import lunar.osd.store.StoredObject;
import lunar.osd.store.Timestamp;
import lunar.osd.target.attribute.RefusedException;
import lunar.osd.target.attribute.TrackingPage;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.AttributesListWriter;
import lunar.osd.wire.command.AttributesCommand;

/**
 * Commands for the members of a collection: GET MEMBER ATTRIBUTES, SET MEMBER ATTRIBUTES and REMOVE MEMBER OBJECTS. The
 * attributes of the CDB are those of the members, in the order of the commands for one object: GET MEMBER ATTRIBUTES
 * gets and then sets them, the others set and then get them, before objects are removed. Changes are made in batches,
 * each of which is atomic. A command that ends immediately by its IMMED_TR bit may do so after its work.
 */
final class MemberCommands {
    private MemberCommands() {}

    static void execute(CommandRun run, AttributesCommand command)
            throws StorageException, RefusedException {
        run.phases().check(ObjectType.USER_OBJECT, false);
        long members = run.store().<Long, RefusedException>query(objects -> {
            StoredObject found = Existing.of(objects, command.object(), ObjectType.COLLECTION);
            return objects.memberCount(found.id());
        });
        run.begin();
        long processed = process(run, command);
        run.complete();
        run.changing(objects -> {
            if (objects.find(command.object()).isPresent()) {
                TrackingPage.ended(objects, command.object(), members, processed);
            }
        });
    }

    /** Performs the functions; returns the number of members that the last one has processed. */
    private static long process(CommandRun run, AttributesCommand command)
            throws StorageException, RefusedException {
        ObjectId collection = command.object();
        boolean sets = !run.requests().sets().isEmpty();
        long processed = 0;
        if (command.action() == ServiceAction.GET_MEMBER_ATTRIBUTES) {
            processed = get(run, collection);
        }
        if (sets || command.action() == ServiceAction.SET_MEMBER_ATTRIBUTES) {
            processed = inBatches(run, collection, MemberCommands::set);
        }
        if (command.action() != ServiceAction.GET_MEMBER_ATTRIBUTES && run.requests().gets()) {
            long _ = get(run, collection);
        }
        return command.action() == ServiceAction.REMOVE_MEMBER_OBJECTS
                ? inBatches(run, collection, MemberCommands::remove)
                : processed;
    }

    /** Writes the attributes of members; those that do not fit are left out. */
    private static long get(CommandRun run, ObjectId collection)
            throws StorageException, RefusedException {
        if (!run.in().retrieves()) {
            return 0;
        }
        long[] processed = {0};
        run.querying(objects -> {
            var list = AttributesListWriter.ofObjects(run.in().retrieved(),
                    OsdVersion.OSD_2);
            var members = new Members(objects, collection, run::isAborted);
            boolean more = true;
            for (List<Long> ids = members.next(); more && !ids.isEmpty(); ids = members.next()) {
                for (int i = 0; more && i < ids.size(); i++) {
                    var id = new ObjectId(collection.partition(), ids.get(i));
                    more = list.add(run.phases().of(objects, Existing.any(objects, id)));
                    processed[0]++;
                }
            }
            run.in().retrievedLength(list.finish());
        });
        return processed[0];
    }

    /** Processes one batch of members. */
    @FunctionalInterface
    private interface Batch {
        void run(CommandRun run, List<ObjectId> members) throws StorageException, RefusedException;
    }

    /** Works in batches, the smaller the more attributes are set, so that other commands wait for none for long. */
    private static long inBatches(CommandRun run, ObjectId collection, Batch batch)
            throws StorageException, RefusedException {
        int batchSize = Math.max(1,
                OsdLimits.BATCH / Math.max(1, run.requests().sets().size()));
        long processed = 0;
        long from = 0;
        while (!run.isAborted()) {
            long first = from;
            List<ObjectId> members = run.store().<List<ObjectId>, RefusedException>query(
                    objects -> members(objects, collection, first, batchSize));
            batch.run(run, members);
            processed += members.size();
            if (members.size() < batchSize || members.getLast().object() == -1) {
                break;
            }
            from = members.getLast().object() + 1;
        }
        return processed;
    }

    private static List<ObjectId> members(ObjectReader objects, ObjectId collection, long from,
            int max) throws StorageException {
        var members = new ArrayList<ObjectId>();
        for (long id : objects.members(collection, from, max)) {
            members.add(new ObjectId(collection.partition(), id));
        }
        return members;
    }

    private static void set(CommandRun run, List<ObjectId> members)
            throws StorageException, RefusedException {
        OptionalLong length = run.requests().length();
        if (length.isPresent()) {
            for (ObjectId member : members) {
                resize(run, member);
            }
        }
        run.changing(objects -> {
            for (ObjectId member : members) {
                var found = objects.find(member);
                if (found.isPresent()) { // else removed since
                    run.phases().set(objects, found.get());
                    if (!run.isBypassed()) {
                        objects.setTime(member, Timestamp.ATTRIBUTES_MODIFIED, run.nowMs());
                    }
                }
            }
        });
    }

    private static void resize(CommandRun run, ObjectId member)
            throws StorageException, RefusedException {
        try {
            run.resize(member);
        } catch (NoSuchObjectException _) {
            // removed since: it is no member any more
        }
    }

    private static void remove(CommandRun run, List<ObjectId> members)
            throws StorageException, RefusedException {
        run.changing(objects -> {
            for (ObjectId member : members) {
                if (objects.find(member).isPresent()) {
                    objects.remove(member);
                }
            }
        });
        members.forEach(run.device().settings()::forget);
        run.device().lists().changed();
    }
}
