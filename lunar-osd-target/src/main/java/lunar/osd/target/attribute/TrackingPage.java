package lunar.osd.target.attribute;

import static lunar.osd.target.attribute.StandardValue.stored;

import java.util.ArrayList;
import java.util.List;
import lunar.block.StorageException;
import lunar.osd.store.ObjectWriter;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.page.CollectionAttribute;

/** The command tracking page of collections: the outcome of the last command for the members of one. */
public final class TrackingPage {
    private static final List<CollectionAttribute> ATTRIBUTES = List.of(
            CollectionAttribute.PERCENT_COMPLETE, CollectionAttribute.ACTIVE_COMMAND_STATUS,
            CollectionAttribute.ENDED_COMMAND_STATUS, CollectionAttribute.SENSE_DATA,
            CollectionAttribute.NUMBER_OF_MEMBERS, CollectionAttribute.OBJECTS_PROCESSED,
            CollectionAttribute.NEWER_OBJECTS_SKIPPED,
            CollectionAttribute.MISSING_OBJECTS_SKIPPED);
    private static final int ALL_DONE = 100;

    private TrackingPage() {}

    static List<StandardValue> values() {
        var all = new ArrayList<StandardValue>();
        for (CollectionAttribute attribute : ATTRIBUTES) {
            all.add(stored(attribute, SetRule.READ_ONLY));
        }
        return all;
    }

    /** Records that a command for the members of a collection has ended with GOOD. */
    public static void ended(ObjectWriter objects, ObjectId collection, long members,
            long processed) throws StorageException {
        objects.setAttribute(collection, CollectionAttribute.PERCENT_COMPLETE.id(),
                Values.number(ALL_DONE, 1));
        objects.setAttribute(collection, CollectionAttribute.ENDED_COMMAND_STATUS.id(),
                Values.number(0, 1));
        objects.setAttribute(collection, CollectionAttribute.NUMBER_OF_MEMBERS.id(),
                Values.int64(members));
        objects.setAttribute(collection, CollectionAttribute.OBJECTS_PROCESSED.id(),
                Values.int64(processed));
    }
}
