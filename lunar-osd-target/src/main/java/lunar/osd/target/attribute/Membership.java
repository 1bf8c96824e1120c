package lunar.osd.target.attribute;

import java.util.Comparator;
import java.util.HashSet;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import lunar.block.StorageException;
import lunar.osd.store.ObjectReader;
import lunar.osd.store.ObjectWriter;
import lunar.osd.store.StoredObject;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.page.StandardPage;
import lunar.osd.wire.page.UserObjectAttribute;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;

/**
 * Collections that user objects are in. The store has the members; the attribute by which an object tells of a
 * collection is stored beside, and counts only while the object is a member: a collection that is removed leaves the
 * attributes of its members behind.
 */
public final class Membership {
    static final int PAGE = StandardPage.USER_OBJECT_COLLECTIONS.number();

    private Membership() {}

    /** Returns the collections of a user object by their attribute numbers. */
    static NavigableMap<Integer, Long> of(ObjectReader objects, ObjectId userObject)
            throws StorageException {
        var collections = new HashSet<>(objects.collectionsOf(userObject));
        var numbered = new TreeMap<Integer, Long>(
                Comparator.comparingLong(Integer::toUnsignedLong));
        if (!collections.isEmpty()) {
            objects.attributes(userObject, PAGE, attribute -> {
                long collection = Values.number(attribute.value());
                if (collections.contains(collection)) {
                    numbered.put(attribute.id().number(), collection);
                }
                return true;
            });
        }
        return numbered;
    }

    /** Adds a user object to a collection, under the first number that is free; no effect if it is a member. */
    public static void add(ObjectWriter objects, ObjectId userObject, long collection)
            throws StorageException, RefusedException {
        NavigableMap<Integer, Long> now = of(objects, userObject);
        if (!now.containsValue(collection)) {
            int number = 1;
            while (now.containsKey(number)) {
                number++;
            }
            set(objects, userObject, number, collection);
        }
    }

    /** Makes a user object a member of a collection, under a number. */
    static void set(ObjectWriter objects, ObjectId userObject, int number, long collection)
            throws StorageException, RefusedException {
        var id = new ObjectId(userObject.partition(), collection);
        Optional<StoredObject> found = objects.find(id);
        if (found.isEmpty() || found.get().type() != ObjectType.COLLECTION) {
            throw RefusedException.illegal(
                    AdditionalSense.INVALID_FIELD_IN_PARAMETER_LIST);
        }
        clear(objects, userObject, number);
        for (var other : of(objects, userObject).entrySet()) {
            if (other.getValue() == collection) {
                objects.setAttribute(userObject, UserObjectAttribute.collection(other.getKey()),
                        Bytes.EMPTY);
            }
        }
        objects.addMember(id, userObject);
        objects.setAttribute(userObject, new AttributeId(PAGE, number),
                Values.int64(collection));
        Quota.COLLECTIONS_PER_OBJECT.limit(objects, userObject)
                .check(objects.collectionsOf(userObject).size());
    }

    /** Removes a user object from the collection that has a number, if one has. */
    static void clear(ObjectWriter objects, ObjectId userObject, int number)
            throws StorageException {
        Long collection = of(objects, userObject).get(number);
        objects.setAttribute(userObject, new AttributeId(PAGE, number), Bytes.EMPTY);
        if (collection != null) {
            objects.removeMember(new ObjectId(userObject.partition(), collection), userObject);
        }
    }
}
