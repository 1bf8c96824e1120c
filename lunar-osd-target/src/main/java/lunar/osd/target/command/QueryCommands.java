package lunar.osd.target.command;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import lunar.block.StorageException;
import lunar.osd.store.ObjectReader;
import lunar.osd.store.StoredObject;
import lunar.osd.target.attribute.Membership;
import lunar.osd.target.attribute.RefusedException;
import lunar.osd.target.attribute.Values;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.command.QueryCommand;
import lunar.osd.wire.data.QueryList;
import lunar.osd.wire.data.QueryMatches;
import lunar.osd.wire.page.PageKind;
import lunar.scsi.Bytes;
import lunar.scsi.InvalidParameterListException;
import org.jspecify.annotations.Nullable;

/**
 * QUERY: finds the members of a collection whose attributes are within bounds; adds them to another collection. It
 * searches in a query of the store, as long as it takes, because changes wait for each other: an object that is removed
 * before the change that adds it is left out.
 */
final class QueryCommands {
    private static final int HEADER_LENGTH = 13;
    private static final int UNCOUNTED = 8;
    private static final int ID_LENGTH = 8;

    private QueryCommands() {}

    static void execute(CommandRun run, QueryCommand command)
            throws StorageException, RefusedException, InvalidParameterListException {
        List<QueryList> lists = run.out().queryLists();
        if (lists.size() != 1) {
            throw InvalidParameterListException.length();
        }
        QueryList list = lists.getFirst();
        for (QueryList.Criterion criterion : list.criteria()) {
            int page = criterion.id().page();
            boolean known = PageKind.objectType(page).filter(ObjectType.USER_OBJECT::equals)
                    .isPresent();
            if (!known) {
                throw RefusedException.field(CdbFieldAt.CONTINUATION);
            }
        }
        if (command.matches() == 0) {
            run.query(objects -> search(run, command, list, objects, null));
        } else {
            fill(run, command, list);
        }
    }

    private static void fill(CommandRun run, QueryCommand command, QueryList list)
            throws StorageException, RefusedException {
        var found = new ArrayList<ObjectId>();
        run.begin();
        run.querying(objects -> {
            checkMatches(objects, command);
            search(run, command, list, objects, found);
        });
        run.change(objects -> {
            checkMatches(objects, command);
            for (ObjectId object : found) {
                if (run.isAborted()) {
                    break;
                }
                if (objects.find(object).isPresent()) {
                    Membership.add(objects, object, command.matches());
                }
            }
            return List.of(command.object());
        });
        run.device().lists().changed();
    }

    private static void checkMatches(ObjectReader objects, QueryCommand command)
            throws StorageException, RefusedException {
        var matches = new ObjectId(command.object().partition(), command.matches());
        if (objects.find(matches).filter(found -> found.type() == ObjectType.COLLECTION)
                .isEmpty()) {
            throw RefusedException.field(CdbFieldAt.start(command));
        }
    }

    /** @param matches gets the members that are found, unless it is null */
    private static void search(CommandRun run, QueryCommand command, QueryList list,
            ObjectReader objects, @Nullable List<ObjectId> matches)
            throws StorageException, RefusedException {
        ObjectId collection = Existing.of(objects, command.object(), ObjectType.COLLECTION).id();
        long found = 0;
        long limit = run.device().limits().allocation(command.allocationLength());
        long at = HEADER_LENGTH;
        var members = new Members(objects, collection, run::isAborted);
        for (List<Long> ids = members.next(); !ids.isEmpty(); ids = members.next()) {
            for (long id : ids) {
                var object = new ObjectId(collection.partition(), id);
                if (run.isAborted() || !matches(run, objects, list, object)) {
                    continue;
                }
                found++;
                if (at + ID_LENGTH <= limit) {
                    run.in().put(at, Values.int64(id).toArray());
                    at += ID_LENGTH;
                }
                if (matches != null) {
                    OsdLimits.checkAdded(found);
                    matches.add(object);
                }
            }
        }
        byte[] header = new QueryMatches(HEADER_LENGTH - UNCOUNTED + ID_LENGTH * found,
                List.of()).bytes();
        run.in().put(header, limit);
        run.in().dataLength(Math.min(at, limit));
    }

    private static boolean matches(CommandRun run, ObjectReader objects, QueryList list,
            ObjectId object) throws StorageException, RefusedException {
        StoredObject found = Existing.any(objects, object);
        for (QueryList.Criterion criterion : list.criteria()) {
            Bytes value = run.phases().value(objects, found, criterion.id());
            if (isWithin(value, criterion) != list.all()) {
                return !list.all();
            }
        }
        return list.all();
    }

    /** Bounds are inclusive and compared as byte strings; an attribute that is not set is within none. */
    private static boolean isWithin(Bytes value, QueryList.Criterion criterion) {
        if (value.length() == 0) {
            return false;
        }
        byte[] bytes = value.toArray();
        byte[] minimum = criterion.minimum().toArray();
        byte[] maximum = criterion.maximum().toArray();
        return (minimum.length == 0 || Arrays.compareUnsigned(bytes, minimum) >= 0)
                && (maximum.length == 0 || Arrays.compareUnsigned(bytes, maximum) <= 0);
    }
}
