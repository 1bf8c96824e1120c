package lunar.osd.store.directory;

import lunar.osd.wire.ObjectId;

/** Identifiers as the database has them: unsigned numbers with the sign bit flipped, so that their order is kept. */
final class Keys {
    private Keys() {}

    static long key(long id) { return id ^ Long.MIN_VALUE; }

    static long id(long key) { return key ^ Long.MIN_VALUE; }

    static long part(ObjectId object) { return key(object.partition()); }

    static long object(ObjectId object) { return key(object.object()); }
}
