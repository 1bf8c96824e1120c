package lunar.osd.store.directory;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Predicate;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;
import lunar.osd.store.NoSuchObjectException;
import lunar.osd.store.ObjectReader;
import lunar.osd.store.StoredObject;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.scsi.Bytes;
import org.jspecify.annotations.Nullable;

/** Reads objects in the database, within a transaction that its user begins and ends. */
class ObjectRows implements ObjectReader {
    private static final String FIND = "SELECT " + ObjectRow.COLUMNS
            + " FROM objects WHERE home = " + Keys.HOME + " AND object = ? AND type IN (?, ?)";
    private static final String ATTRIBUTES = "SELECT page, number, value FROM attributes"
            + " WHERE home = " + Keys.HOME + " AND object = ?"
            + " AND (page, number) > (?, ?) AND page BETWEEN ? AND ?"
            + " ORDER BY page, number LIMIT 32";
    /** Identifiers in use after which a gap is searched elsewhere, instead of behind them. */
    private static final int PROBE_AFTER = 1000;
    private static final long MAX_U32 = 0xffff_ffffL;
    /** Home of the first parameter, which others may follow and repeat. */
    private static final String HOME_1 = Keys.home(1);

    final Sql sql;
    final Overlay overlay;
    /** The object that was looked up last, its row, and the state of the connection then. */
    private @Nullable ObjectId known;
    private @Nullable ObjectRow knownRow;
    private long knownAt;

    ObjectRows(Sql sql, Overlay overlay) {
        this.sql = sql;
        this.overlay = overlay;
    }

    /** @throws NoSuchObjectException if the object is no user object */
    final ObjectRow userObject(ObjectId object) throws StorageException {
        ObjectRow row = object.object() == 0 ? null : row(object);
        if (row == null || !row.isUserObject()) {
            throw new NoSuchObjectException(object);
        }
        return row;
    }

    /** Returns the row of an object; null if it does not exist. */
    final @Nullable ObjectRow row(ObjectId object) throws StorageException {
        if (!object.equals(known) || knownAt != sql.state()) {
            known = null;
            knownRow = select(object, sql);
            known = object;
            knownAt = sql.state();
        }
        return knownRow;
    }

    private static @Nullable ObjectRow select(ObjectId object, Sql sql) throws StorageException {
        boolean inPartition = object.object() != 0;
        ObjectType first = inPartition ? ObjectType.USER_OBJECT : ObjectType.PARTITION;
        ObjectType second = inPartition ? ObjectType.COLLECTION : ObjectType.ROOT;
        return sql.first(FIND, row -> ObjectRow.of(object, row), Keys.part(object),
                Keys.object(object), first.code(), second.code());
    }

    /** Returns the small data of an object. */
    final byte[] small(ObjectRow row) throws StorageException {
        byte @Nullable [] bytes = row.isSmall()
                ? sql.first("SELECT bytes FROM small WHERE data = ?", found -> found.getBytes(1),
                        -row.data())
                : null;
        return bytes == null ? new byte[0] : bytes;
    }

    @Override
    public Optional<StoredObject> find(ObjectId object) throws StorageException {
        ObjectRow row = row(object);
        if (row == null) {
            return Optional.empty();
        }
        overlay.touches().overlay(object, row.times());
        return Optional.of(row.stored(overlay.length(row)));
    }

    @Override
    public Bytes attribute(ObjectId object, AttributeId attribute) throws StorageException {
        Bytes value = sql.first("SELECT value FROM attributes WHERE home = " + Keys.HOME
                + " AND object = ? AND page = ? AND number = ?",
                row -> Bytes.of(row.getBytes(1)), Keys.part(object), Keys.object(object),
                Integer.toUnsignedLong(attribute.page()),
                Integer.toUnsignedLong(attribute.number()));
        return value == null ? Bytes.EMPTY : value;
    }

    @Override
    public void attributes(ObjectId object, int page, Predicate<Attribute> consumer)
            throws StorageException {
        boolean all = page == AttributeId.ALL_PAGES;
        long lowest = all ? 0 : Integer.toUnsignedLong(page);
        long highest = all ? MAX_U32 : lowest;
        long afterPage = lowest;
        long afterNumber = -1;
        for (;;) { // in pieces, as the consumer may read by this itself
            List<Attribute> some = sql.all(ATTRIBUTES,
                    row -> new Attribute(
                            new AttributeId((int) row.getLong(1), (int) row.getLong(2)),
                            Bytes.of(row.getBytes(3))),
                    Keys.part(object), Keys.object(object), afterPage, afterNumber, lowest,
                    highest);
            for (Attribute each : some) {
                if (!consumer.test(each)) {
                    return;
                }
                afterPage = Integer.toUnsignedLong(each.id().page());
                afterNumber = Integer.toUnsignedLong(each.id().number());
            }
            if (some.isEmpty()) {
                return;
            }
        }
    }

    @Override
    public List<Long> partitions(long from, int max) throws StorageException {
        long first = Long.compareUnsigned(from, 1) < 0 ? 1 : from; // the root has a row, too
        return sql.all("SELECT part FROM partitions WHERE part >= ? ORDER BY part LIMIT ?",
                row -> Keys.id(row.getLong(1)), Keys.key(first), max);
    }

    @Override
    public long partitionCount() throws StorageException {
        return sql.number("SELECT objects FROM partitions WHERE part = ?", Keys.key(0));
    }

    @Override
    public List<Long> objects(long partition, ObjectType type, long from, int max)
            throws StorageException {
        return sql.all("SELECT object FROM objects WHERE home = " + Keys.HOME
                + " AND type = ? AND object >= ? ORDER BY object LIMIT ?",
                row -> Keys.id(row.getLong(1)), Keys.key(partition),
                type.code(), Keys.key(from), max);
    }

    @Override
    public long objectCount(long partition, ObjectType type) throws StorageException {
        if (partition == 0) {
            return 0; // partition zero has no objects of its own
        }
        return sql.number(type == ObjectType.COLLECTION
                ? "SELECT collections FROM partitions WHERE part = ?"
                : "SELECT objects FROM partitions WHERE part = ?", Keys.key(partition));
    }

    @Override
    public List<Long> members(ObjectId collection, long from, int max) throws StorageException {
        return sql.all("SELECT object FROM members WHERE home = " + Keys.HOME
                + " AND collection = ? AND object >= ? ORDER BY object LIMIT ?",
                row -> Keys.id(row.getLong(1)),
                Keys.part(collection), Keys.object(collection), Keys.key(from), max);
    }

    @Override
    public long memberCount(ObjectId collection) throws StorageException {
        return sql.number("SELECT length FROM objects WHERE home = " + Keys.HOME
                + " AND type = 64 AND object = ?",
                Keys.part(collection), Keys.object(collection));
    }

    @Override
    public List<Long> collectionsOf(ObjectId userObject) throws StorageException {
        return sql.all("SELECT collection FROM members WHERE home = " + Keys.HOME
                + " AND object = ? ORDER BY collection", row -> Keys.id(row.getLong(1)),
                Keys.part(userObject),
                Keys.object(userObject));
    }

    @Override
    public long usedBytes(long partition) throws StorageException {
        return overlay.space().used(partition);
    }

    @Override
    public long freeIds(long partition, int count) throws StorageException {
        long highest = highestId(partition);
        long next = Long.compareUnsigned(highest, ObjectId.FIRST) < 0
                ? ObjectId.FIRST
                : highest + 1;
        if (next != 0 && Long.compareUnsigned(next, -count) <= 0) {
            return next;
        }
        long from = ObjectId.FIRST; // the highest identifier is in use: gaps are elsewhere
        for (int steps = 1; from != 0; steps++) {
            if (steps % PROBE_AFTER == 0) {
                from = ThreadLocalRandom.current().nextLong(ObjectId.FIRST, Long.MAX_VALUE);
            }
            Long used = usedFrom(partition, from);
            if (used == null
                    ? Long.compareUnsigned(from, -count) <= 0
                    : Long.compareUnsigned(used - from, count) >= 0) {
                return from;
            }
            from = used == null ? 0 : used + 1;
        }
        throw new NoSpaceException("object store: no " + count + " consecutive identifiers are"
                + " free in partition " + Long.toHexString(partition) + "h");
    }

    /** Returns the highest identifier in use; 0 if there is none. */
    private long highestId(long partition) throws StorageException {
        return partition == 0
                ? Keys.id(sql.number("SELECT max(part) FROM partitions"))
                : Keys.id(sql.number("SELECT ifnull(max(object), ?2) FROM ("
                        + "SELECT max(object) AS object FROM objects WHERE home = " + HOME_1
                        + " AND type = 64"
                        + " UNION ALL"
                        + " SELECT max(object) FROM objects WHERE home = " + HOME_1
                        + " AND type = 128)",
                        Keys.key(partition), Keys.key(0)));
    }

    /** Returns the lowest identifier in use that is not below another; null if there is none. */
    private @Nullable Long usedFrom(long partition, long from) throws StorageException {
        return partition == 0
                ? sql.first("SELECT part FROM partitions WHERE part >= ? ORDER BY part LIMIT 1",
                        row -> Keys.id(row.getLong(1)), Keys.key(from))
                : sql.first("SELECT min(object) FROM ("
                        + "SELECT min(object) AS object FROM objects"
                        + " WHERE home = " + HOME_1 + " AND type = 64 AND object >= ?2 UNION ALL"
                        + " SELECT min(object) FROM objects"
                        + " WHERE home = " + HOME_1 + " AND type = 128 AND object >= ?2)"
                        + " HAVING min(object) IS NOT NULL",
                        row -> Keys.id(row.getLong(1)), Keys.key(partition), Keys.key(from));
    }
}
