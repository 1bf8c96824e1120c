package lunar.osd.store.directory;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import lunar.block.StorageException;
import lunar.osd.store.Timestamp;
import lunar.osd.wire.ObjectId;
import org.jspecify.annotations.Nullable;

/**
 * Timestamps that accesses have set and the database does not have yet. The next transaction takes them along; until it
 * has committed, readers still find them here. Thread-safe.
 */
final class Touches {
    /** Objects of which timestamps are kept; more of them are to be written at once. */
    static final int MAX = 4096;
    /** Objects more than which no timestamps are kept while they cannot be written. */
    static final int LIMIT = 2 * MAX;
    private static final Timestamp[] ALL = Timestamp.values();
    private static final long UNSET = Long.MIN_VALUE;
    /** In the order of {@link ObjectRow#index}; an unset one keeps its value. */
    private static final String UPDATE = """
            UPDATE objects SET created = ifnull(nullif(?1, -9223372036854775808), created),
                attributes_accessed =
                    ifnull(nullif(?2, -9223372036854775808), attributes_accessed),
                attributes_modified =
                    ifnull(nullif(?3, -9223372036854775808), attributes_modified),
                data_accessed = ifnull(nullif(?4, -9223372036854775808), data_accessed),
                data_modified = ifnull(nullif(?5, -9223372036854775808), data_modified)
            WHERE object = ?7 AND type IN (1, 2, 64, 128) AND home =\s""" + Keys.home(6);

    private volatile Map<ObjectId, long[]> pending = new ConcurrentHashMap<>();
    /** Timestamps that the transaction in progress writes. */
    private volatile Map<ObjectId, long[]> writing = Map.of();

    /** Sets timestamps; true if it is time to write them. */
    synchronized boolean set(ObjectId object, Set<Timestamp> which, long timeMs) {
        Map<ObjectId, long[]> now = pending;
        if (isKept(object)) {
            now.compute(object, (_, known) -> {
                long[] times = known == null ? none() : known.clone();
                which.forEach(each -> times[ObjectRow.index(each)] = timeMs);
                return times;
            });
        }
        return now.size() >= MAX;
    }

    private boolean isKept(ObjectId object) {
        return pending.size() < LIMIT || pending.containsKey(object);
    }

    private static long[] none() {
        long[] times = new long[ALL.length];
        Arrays.fill(times, UNSET);
        return times;
    }

    boolean isEmpty() { return pending.isEmpty(); }

    /** Replaces timestamps by those that were set since. */
    void overlay(ObjectId object, long[] times) {
        overlay(times, writing.get(object));
        overlay(times, pending.get(object));
    }

    private static void overlay(long[] times, long @Nullable [] set) {
        for (int i = 0; set != null && i < times.length; i++) {
            times[i] = set[i] == UNSET ? times[i] : set[i];
        }
    }

    /** Writes all in the transaction in progress; {@link #written} must follow. */
    void write(Sql sql) throws StorageException {
        if (pending.isEmpty()) {
            return;
        }
        Map<ObjectId, long[]> batch = take();
        for (Map.Entry<ObjectId, long[]> each : batch.entrySet()) {
            long[] times = each.getValue();
            sql.update(UPDATE, times[0], times[1], times[2], times[3], times[4],
                    Keys.part(each.getKey()), Keys.object(each.getKey()));
        }
    }

    private synchronized Map<ObjectId, long[]> take() {
        Map<ObjectId, long[]> batch = pending;
        writing = batch;
        pending = new ConcurrentHashMap<>();
        return batch;
    }

    /** Tells whether the transaction has committed; otherwise they are still to be written. */
    synchronized void written(boolean committed) {
        Map<ObjectId, long[]> batch = writing;
        if (!committed) {
            batch.forEach((object, times) -> {
                if (isKept(object)) {
                    pending.merge(object, times, (newer, older) -> {
                        long[] both = older.clone();
                        overlay(both, newer);
                        return both;
                    });
                }
            });
        }
        if (!batch.isEmpty()) {
            writing = Map.of();
        }
    }
}
