package lunar.osd.store.directory;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.LongSupplier;
import lunar.block.StorageException;
import lunar.osd.store.Growth;
import lunar.osd.store.ObjectWriter;
import lunar.osd.store.StagedData;
import lunar.osd.store.StoredObject;
import lunar.osd.store.Timestamp;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.attribute.AttributeId;
import lunar.scsi.Bytes;

/**
 * Changes objects in the database, within the transaction of several changes, each of which has {@link Effects} of its
 * own.
 */
final class ObjectChanges extends ObjectRows implements ObjectWriter {
    private final DataIds ids;
    private final boolean everyChange;
    private Effects effects = new Effects();
    /** Bytes that partitions lose when the transaction commits, and those that it has counted for them already. */
    private final Map<Long, Long> shrinking = new HashMap<>();
    private final Map<Long, Long> granted = new HashMap<>();
    private long totalShrinking;

    ObjectChanges(Sql sql, Overlay overlay, DataIds ids, boolean everyChange) {
        super(sql, overlay);
        this.ids = ids;
        this.everyChange = everyChange;
    }

    /** Begins the next change. */
    void begin(Effects ofChange) { effects = ofChange; }

    /**
     * Timestamps are those of the row: the transaction has begun with those that accesses had set, unless the medium is
     * full.
     */
    @Override
    public Optional<StoredObject> find(ObjectId object) throws StorageException {
        ObjectRow row = row(object);
        return row == null ? Optional.empty() : Optional.of(row.stored(overlay.length(row)));
    }

    @Override
    public long usedBytes(long partition) throws StorageException {
        return super.usedBytes(partition) - (partition == 0
                ? totalShrinking
                : shrinking.getOrDefault(partition, 0L));
    }

    @Override
    public void create(ObjectId object, ObjectType type, long timeMs) throws StorageException {
        create(object, type, 0, 0, timeMs);
    }

    @Override
    public void create(ObjectId object, StagedData data, long timeMs) throws StorageException {
        Staged staged = staged(data);
        long length = staged.length();
        create(object, ObjectType.USER_OBJECT, length, adopt(object, staged, false, true), timeMs);
        grow(object, length, length, Growth.UNLIMITED);
        sql.update("UPDATE partitions SET used = used + ? WHERE part = ?", length,
                Keys.part(object));
    }

    private void create(ObjectId object, ObjectType type, long length, long data, long timeMs)
            throws StorageException {
        overlay.space().requireRoom();
        require(row(object) == null && (object.object() == 0) == (type == ObjectType.PARTITION)
                && type != ObjectType.ROOT, "object", object, "exists, or has no such identifier");
        if (type == ObjectType.PARTITION) {
            sql.update("INSERT INTO partitions VALUES (?, ?, 0, 0, 0)", Keys.part(object),
                    ids.take(1, sql, effects));
        }
        require(count(object, type, 1), "partition of", object, "does not exist");
        sql.update("INSERT INTO objects VALUES (" + Keys.HOME
                + ", ?2, ?3, ?4, ?5, ?6, ?6, ?6, ?6, ?6)",
                Keys.part(object), type.code(), Keys.object(object), length, data, timeMs);
    }

    private static void require(boolean condition, String what, ObjectId object, String problem) {
        if (!condition) {
            throw new IllegalStateException(what + " " + object + " " + problem);
        }
    }

    /** Counts objects of a type in their partition, or partitions; false if the partition does not exist. */
    private boolean count(ObjectId object, ObjectType type, int more) throws StorageException {
        long where = type == ObjectType.PARTITION ? 0 : object.partition();
        return (type == ObjectType.PARTITION || where != 0) && sql.update(
                type == ObjectType.COLLECTION
                        ? "UPDATE partitions SET collections = collections + ? WHERE part = ?"
                        : "UPDATE partitions SET objects = objects + ? WHERE part = ?",
                more, Keys.key(where)) == 1;
    }

    private static Staged staged(StagedData data) {
        if (data instanceof Staged staged) {
            return staged;
        }
        throw new IllegalArgumentException("staged data of another store");
    }

    /**
     * Makes staged data an object's, and returns what its row has as data id.
     *
     * @param replaces whether the object has data, which may be stable, or must not get a part of these: then the file
     *        is made stable before, as the flush of any object makes the change stable
     * @param creates whether the object is created with the data: then a power loss leaves the whole object or none
     */
    private long adopt(ObjectId object, Staged staged, boolean replaces, boolean creates)
            throws StorageException {
        byte[] small = staged.small();
        if (small != null) {
            staged.given(effects, overlay.files());
            return small.length == 0 ? 0 : insertSmall(small);
        }
        if (everyChange || replaces) {
            staged.sync();
        }
        boolean stable = staged.isSynced();
        long data = staged.data();
        staged.given(effects, overlay.files());
        require(sql.update("DELETE FROM staged WHERE data = ?", data) == 1, "staged data of",
                object, "are gone");
        long whole = creates ? -staged.length() : 0;
        addUnsynced(object, data, stable ? staged.length() : whole, !stable);
        if (!stable && creates) {
            overlay.files().adopted().add(data, staged.length());
        }
        return data;
    }

    private long insertSmall(byte[] bytes) throws StorageException {
        long data = ids.take(1, sql, effects);
        sql.update("INSERT INTO small VALUES (?, ?)", data, bytes);
        return -data;
    }

    @Override
    public void replaceData(ObjectId object, StagedData data) throws StorageException {
        ObjectRow row = row(object);
        require(row != null && row.isUserObject(), "user object", object, "does not exist");
        Staged staged = staged(data);
        long length = staged.length();
        dropData(Objects.requireNonNull(row));
        setData(row, length, adopt(object, staged, true, false));
        grow(object, length, length, Growth.UNLIMITED);
    }

    /** Replaces the data of an object whose length no other thread can change. */
    <E extends Exception> void swapData(ObjectRow row, Staged staged, Growth<E> growth)
            throws StorageException, E {
        long before = overlay.length(row);
        long after = staged.length();
        long partition = row.id().partition();
        if (after > before) {
            grow(row.id(), after, after - before, growth);
        } else if (after < before) {
            shrink(partition, before - after, () -> before - after);
        }
        discardData(row.data());
        setData(row, after, adopt(row.id(), staged, row.data() != 0, false));
    }

    /** Changes the row of an object whose data has changed, and the bytes of its partition in the database. */
    private void setData(ObjectRow row, long length, long data) throws StorageException {
        sql.update("UPDATE objects SET length = ?, data = ? WHERE home = " + Keys.HOME
                + " AND object = ? AND type = 128", length, data, Keys.part(row.id()),
                Keys.object(row.id()));
        if (length != row.length()) {
            sql.update("UPDATE partitions SET used = used + ? WHERE part = ?",
                    length - row.length(), Keys.part(row.id()));
        }
    }

    /** Takes the data from an object, whose row is about to be changed or removed. */
    private void dropData(ObjectRow row) throws StorageException {
        discardData(row.data());
        shrink(row.id().partition(), overlay.length(row), () -> overlay.length(row));
    }

    private void discardData(long data) throws StorageException {
        if (data < 0) {
            sql.update("DELETE FROM small WHERE data = ?", -data);
        } else if (data > 0) {
            sql.update("INSERT INTO dropped VALUES (?)", data);
            sql.update("DELETE FROM unsynced WHERE data = ?", data);
            effects.dropped().add(data);
            effects.onCommit(() -> overlay.files().dropped(data));
        }
    }

    /** Uncounts bytes of a partition: for this transaction at once, for others when it has committed. */
    private void shrink(long partition, long bytes, LongSupplier exact) {
        shrinking.merge(partition, bytes, Long::sum);
        totalShrinking += bytes;
        effects.onUndo(() -> {
            shrinking.merge(partition, -bytes, Long::sum);
            totalShrinking -= bytes;
        });
        effects.onCommit(() -> overlay.space().add(partition, -exact.getAsLong()));
    }

    /** Counts growth, if that is permitted. */
    <E extends Exception> void grow(ObjectId object, long length, long bytes, Growth<E> growth)
            throws StorageException, E {
        long partition = object.partition();
        overlay.space().grow(object, length, bytes, growth);
        granted.merge(partition, bytes, Long::sum);
        effects.onUndo(() -> {
            granted.merge(partition, -bytes, Long::sum);
            overlay.space().add(partition, -bytes);
        });
    }

    @Override
    public void remove(ObjectId object) throws StorageException {
        ObjectRow row = row(object);
        require(row != null && !object.isRoot(), "object", object,
                "does not exist, or is the root");
        Objects.requireNonNull(row);
        switch (row.type()) {
            case ROOT, PARTITION -> {
                removePartition(object);
                return;
            }
            case COLLECTION -> sql.update("DELETE FROM members WHERE home = " + Keys.HOME
                    + " AND collection = ?", Keys.part(object), Keys.object(object));
            case USER_OBJECT -> {
                leaveCollections(object);
                dropData(row);
                if (row.length() != 0) {
                    sql.update("UPDATE partitions SET used = used - ? WHERE part = ?",
                            row.length(), Keys.part(object));
                }
            }
        }
        sql.update("DELETE FROM attributes WHERE home = " + Keys.HOME + " AND object = ?",
                Keys.part(object), Keys.object(object));
        sql.update("DELETE FROM objects WHERE home = " + Keys.HOME + " AND object = ?"
                + " AND type = ?", Keys.part(object), Keys.object(object), row.type().code());
        count(object, row.type(), -1);
    }

    private void leaveCollections(ObjectId object) throws StorageException {
        for (long each : collectionsOf(object)) {
            removeMember(new ObjectId(object.partition(), each), object);
        }
    }

    /** Takes the partition from its objects, which {@link Reclaim} deletes later. */
    private void removePartition(ObjectId object) throws StorageException {
        long part = Keys.part(object);
        sql.update("INSERT INTO removed SELECT home FROM partitions WHERE part = ?", part);
        forgetUnsynced(sql.all("SELECT data FROM unsynced WHERE part = ?", row -> row.getLong(1),
                part));
        sql.update("DELETE FROM unsynced WHERE part = ?", part);
        sql.update("DELETE FROM partitions WHERE part = ?", part);
        count(object, ObjectType.PARTITION, -1);
        effects.dropped().addPartition(object.partition());
        forget(object.partition());
    }

    @Override
    public void clear() throws StorageException {
        long root = Keys.key(0);
        sql.update("INSERT INTO removed SELECT home FROM partitions WHERE part != ?", root);
        forgetUnsynced(sql.all("SELECT data FROM unsynced", row -> row.getLong(1)));
        sql.update("DELETE FROM unsynced");
        sql.update("DELETE FROM partitions WHERE part != ?", root);
        sql.update("UPDATE partitions SET objects = 0 WHERE part = ?", root);
        sql.update("DELETE FROM attributes WHERE home = ?", root);
        effects.dropped().addAll();
        overlay.space().partitions().forEach(this::forget);
    }

    /**
     * Deletes a part of what removed partitions had.
     *
     * @param most most rows of a table to delete
     * @return whether there may be more
     */
    boolean reclaim(int most) throws StorageException {
        Long home = sql.first("SELECT home FROM removed LIMIT 1", row -> row.getLong(1));
        if (home == null) {
            return false;
        }
        if (!deleteAttributes(home, most) && !deleteMembers(home, most)
                && !deleteObjects(home, most)) {
            sql.update("DELETE FROM removed WHERE home = ?", home);
        }
        return true;
    }

    /** Deletes the first attributes of a home; false if there are none. */
    private boolean deleteAttributes(long home, int most) throws StorageException {
        List<long[]> keys = sql.all("SELECT object, page, number FROM attributes WHERE home = ?"
                + " ORDER BY object, page, number LIMIT ?",
                row -> new long[]{row.getLong(1), row.getLong(2), row.getLong(3)}, home, most);
        for (long[] each : keys) {
            sql.update("DELETE FROM attributes WHERE home = ? AND object = ? AND page = ?"
                    + " AND number = ?", home, each[0], each[1], each[2]);
        }
        return !keys.isEmpty();
    }

    private boolean deleteMembers(long home, int most) throws StorageException {
        List<long[]> keys = sql.all("SELECT collection, object FROM members WHERE home = ?"
                + " ORDER BY collection, object LIMIT ?",
                row -> new long[]{row.getLong(1), row.getLong(2)}, home, most);
        for (long[] each : keys) {
            sql.update("DELETE FROM members WHERE home = ? AND collection = ? AND object = ?",
                    home, each[0], each[1]);
        }
        return !keys.isEmpty();
    }

    private boolean deleteObjects(long home, int most) throws StorageException {
        List<long[]> rows = sql.all("SELECT type, object, data FROM objects WHERE home = ?"
                + " ORDER BY type, object LIMIT ?",
                row -> new long[]{row.getLong(1), row.getLong(2), row.getLong(3)}, home, most);
        for (long[] each : rows) {
            discardData(each[2]);
            sql.update("DELETE FROM objects WHERE home = ? AND type = ? AND object = ?", home,
                    each[0], each[1]);
        }
        return !rows.isEmpty();
    }

    /** Uncounts a partition, except for what the transaction puts into a new one of the name. */
    private void forget(long partition) {
        long before = granted.getOrDefault(partition, 0L);
        long bytes = overlay.space().used(partition) - shrinking.getOrDefault(partition, 0L);
        shrink(partition, bytes, () -> overlay.space().used(partition)
                - (granted.getOrDefault(partition, 0L) - before));
    }

    /** Forgets data that is dropped, but not what the transaction may create later. */
    private void forgetUnsynced(List<Long> data) {
        effects.onCommit(() -> data.forEach(overlay.files()::dropped));
    }

    @Override
    public void setAttribute(ObjectId object, AttributeId attribute, Bytes value)
            throws StorageException {
        require(row(object) != null, "object", object, "does not exist");
        long page = Integer.toUnsignedLong(attribute.page());
        long number = Integer.toUnsignedLong(attribute.number());
        if (value.length() == 0) {
            sql.update("DELETE FROM attributes WHERE home = " + Keys.HOME
                    + " AND object = ? AND page = ? AND number = ?",
                    Keys.part(object), Keys.object(object), page, number);
        } else {
            overlay.space().requireRoom();
            sql.update("INSERT OR REPLACE INTO attributes VALUES (" + Keys.HOME
                    + ", ?, ?, ?, ?)",
                    Keys.part(object), Keys.object(object), page, number, value.toArray());
        }
    }

    @Override
    public void setTime(ObjectId object, Timestamp which, long timeMs) throws StorageException {
        String column = switch (which) {
            case CREATED -> "created";
            case ATTRIBUTES_ACCESSED -> "attributes_accessed";
            case ATTRIBUTES_MODIFIED -> "attributes_modified";
            case DATA_ACCESSED -> "data_accessed";
            case DATA_MODIFIED -> "data_modified";
        };
        int rows = sql.update("UPDATE objects SET " + column + " = ? WHERE home = " + Keys.HOME
                + " AND object = ? AND type IN (1, 2, 64, 128)", timeMs, Keys.part(object),
                Keys.object(object));
        require(rows == 1, "object", object, "does not exist");
    }

    @Override
    public void addMember(ObjectId collection, ObjectId userObject) throws StorageException {
        overlay.space().requireRoom();
        requireMember(collection, userObject);
        countMembers(collection,
                sql.update("INSERT OR IGNORE INTO members VALUES (" + Keys.HOME + ", ?, ?)",
                        Keys.part(collection), Keys.object(collection), Keys.object(userObject)));
    }

    @Override
    public void removeMember(ObjectId collection, ObjectId userObject) throws StorageException {
        requireMember(collection, userObject);
        countMembers(collection, -sql.update(
                "DELETE FROM members WHERE home = " + Keys.HOME
                        + " AND collection = ? AND object = ?",
                Keys.part(collection), Keys.object(collection), Keys.object(userObject)));
    }

    private void requireMember(ObjectId collection, ObjectId userObject) throws StorageException {
        ObjectRow group = row(collection);
        ObjectRow member = row(userObject);
        require(group != null && group.type() == ObjectType.COLLECTION, "collection", collection,
                "does not exist");
        require(member != null && member.isUserObject()
                && userObject.partition() == collection.partition(), "user object", userObject,
                "does not exist in the partition");
    }

    private void countMembers(ObjectId collection, int more) throws StorageException {
        if (more != 0) {
            sql.update("UPDATE objects SET length = length + ?"
                    + " WHERE home = " + Keys.HOME + " AND type = 64 AND object = ?", more,
                    Keys.part(collection), Keys.object(collection));
        }
    }

    // --- data ---

    /** Replaces the small data of an object. */
    void setSmall(ObjectRow row, byte[] bytes) throws StorageException {
        long data = row.data();
        if (bytes.length == 0) {
            sql.update("DELETE FROM small WHERE data = ?", -data);
            data = 0;
        } else if (data == 0) {
            data = insertSmall(bytes);
        } else {
            sql.update("UPDATE small SET bytes = ? WHERE data = ?", bytes, -data);
        }
        if (bytes.length != row.length() || data != row.data()) {
            setData(row, bytes.length, data);
        }
        if (bytes.length < row.length()) {
            long less = row.length() - bytes.length;
            shrink(row.id().partition(), less, () -> less);
        }
    }

    /**
     * Records that the length of an object is that of its file, which may be longer than what is stable.
     *
     * @param stable bytes that are stable at least; the negative length with which the object was created while nothing
     *        is stable
     */
    void addUnsynced(ObjectId object, long data, long stable, boolean newEntry)
            throws StorageException {
        sql.update("INSERT OR REPLACE INTO unsynced VALUES (?, ?, ?, ?)", data, Keys.part(object),
                Keys.object(object), stable);
        if (overlay.files().addUnsynced(data, object, stable, newEntry)) { // before others see the object
            effects.onUndo(() -> overlay.files().dropped(data));
        }
    }

    /**
     * Records that the length of an object, whose file is stable, is to be that of the file, before it is written.
     * Other threads take it for granted only when it is committed, as they write then.
     */
    void markUnsynced(ObjectRow row) throws StorageException {
        long data = row.data();
        sql.update("INSERT OR IGNORE INTO unsynced VALUES (?, ?, ?, ?)", data,
                Keys.part(row.id()), Keys.object(row.id()), row.length());
        effects.onCommit(() -> overlay.files().markUnsynced(data, row.id(), row.length()));
    }

    /** Records the length of the file of an object, if the object still has it. */
    void saveLength(ObjectId object, long data, long length) throws StorageException {
        ObjectRow row = row(object);
        if (row != null && row.data() == data) {
            if (row.length() != length) {
                setData(row, length, data);
            }
            effects.onCommit(() -> overlay.files().lengthSaved(data, length));
        }
    }

    /** Records that a file which nothing vouches for was lost in a power failure, and its object is empty. */
    void loseData(ObjectId object, long data) throws StorageException {
        ObjectRow row = row(object);
        if (row != null && row.data() == data) {
            setData(row, 0, 0);
        }
        removeUnsynced(data);
    }

    /** Records that a file was lost in a power failure, or a part of it, with which its object was created. */
    void loseObject(ObjectId object, long data) throws StorageException {
        ObjectRow row = row(object);
        if (row != null && row.data() == data) {
            remove(object);
        }
        removeUnsynced(data);
    }

    /** Records that the file of an object is stable and has the length that the row has. */
    void removeUnsynced(long data) throws StorageException {
        sql.update("DELETE FROM unsynced WHERE data = ?", data);
    }

    /** Records how much of a file is stable at least. */
    void stable(long data, long length) throws StorageException {
        sql.update("UPDATE unsynced SET stable = ? WHERE data = ?", length, data);
        effects.onCommit(() -> overlay.files().stable(data, length));
    }

    /** Records that the file of an object should be there, with all of its length. */
    void markDamaged(ObjectId object, long data) throws StorageException {
        ObjectRow row = row(object);
        if (row != null && row.data() == data) {
            stable(data, overlay.length(row));
        }
    }

    /** Reserves data ids for files, which are discarded at the next start unless objects have them then. */
    long reserve(int count) throws StorageException {
        long first = ids.take(count, sql, effects);
        for (int i = 0; i < count; i++) {
            sql.update("INSERT INTO staged VALUES (?)", first + i);
        }
        return first;
    }
}
