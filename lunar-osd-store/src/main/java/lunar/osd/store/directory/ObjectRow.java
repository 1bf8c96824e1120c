package lunar.osd.store.directory;

import java.sql.SQLException;
import java.util.EnumMap;
import java.util.Map;
import lunar.osd.store.StoredObject;
import lunar.osd.store.Timestamp;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;

/** Row of an object. */
final class ObjectRow {
    /** Columns that {@link #of} expects. */
    static final String COLUMNS = "type, length, data, created, attributes_accessed,"
            + " attributes_modified, data_accessed, data_modified";

    private static final Timestamp[] ALL = Timestamp.values();
    private static final int FIRST_TIME = 4;

    private final ObjectId id;
    private final ObjectType type;
    private final long length;
    private final long data;
    private final long[] times;

    private ObjectRow(ObjectId id, ObjectType type, long length, long data, long[] times) {
        this.id = id;
        this.type = type;
        this.length = length;
        this.data = data;
        this.times = times;
    }

    static ObjectRow of(ObjectId id, Sql.Row row) throws SQLException {
        long[] times = new long[ALL.length];
        for (int i = 0; i < times.length; i++) {
            times[i] = row.getLong(FIRST_TIME + i);
        }
        return new ObjectRow(id, ObjectType.of(row.getInt(1)).orElseThrow(), row.getLong(2),
                row.getLong(3), times);
    }

    ObjectId id() { return id; }

    ObjectType type() { return type; }

    /** Returns the bytes of a user object, or the members of a collection. */
    long length() {
        return length;
    }

    /** Returns the data id of its file, the negative one of its small data, or 0. */
    long data() {
        return data;
    }

    /** Returns its timestamps in the order of {@link #index}, to be modified. */
    long[] times() {
        return times;
    }

    /** Returns the place of a timestamp among all, as the columns are ordered. */
    static int index(Timestamp which) {
        return switch (which) {
            case CREATED -> 0;
            case ATTRIBUTES_ACCESSED -> 1;
            case ATTRIBUTES_MODIFIED -> 2;
            case DATA_ACCESSED -> 3;
            case DATA_MODIFIED -> 4;
        };
    }

    boolean isUserObject() { return type == ObjectType.USER_OBJECT; }

    boolean hasFile() { return data > 0; }

    boolean isSmall() { return data < 0; }

    /** @param bytes its length, which an open file knows better than the row */
    StoredObject stored(long bytes) {
        Map<Timestamp, Long> all = new EnumMap<>(Timestamp.class);
        for (Timestamp each : ALL) {
            all.put(each, times[index(each)]);
        }
        return new StoredObject(id, type, isUserObject() ? bytes : 0, all);
    }
}
