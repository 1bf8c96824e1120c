package lunar.osd.store.directory;

import lunar.osd.wire.ObjectId;

/**
 * Identifiers as the database has them: unsigned numbers with the sign bit flipped, so that their order is kept. The
 * objects of a partition are stored under its home, a number that is never used twice, so that a partition can be
 * removed at once and created again while what it had is still there.
 */
final class Keys {
    /** In a statement: the home of the partition that is the parameter, NULL if it does not exist. */
    static final String HOME = "(SELECT home FROM partitions WHERE part = ?)";

    private Keys() {}

    /** Returns {@link #HOME} of a numbered parameter. */
    static String home(int parameter) {
        return HOME.replace("?", "?" + parameter);
    }

    static long key(long id) { return id ^ Long.MIN_VALUE; }

    static long id(long key) { return key ^ Long.MIN_VALUE; }

    static long part(ObjectId object) { return key(object.partition()); }

    static long object(ObjectId object) { return key(object.object()); }
}
