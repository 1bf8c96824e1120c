package lunar.osd.store.directory;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import lunar.osd.store.Growth;
import lunar.osd.wire.ObjectId;

/**
 * Bytes of data of the user objects of each partition, and of all. What a growth was granted is counted at once, and
 * what is removed once that is committed, so that quotas are never exceeded. Thread-safe.
 */
final class Space {
    private final Map<Long, Long> used = new HashMap<>();
    private long total;

    /** Counts bytes without asking. */
    synchronized void add(long partition, long bytes) {
        used.merge(partition, bytes, (a, b) -> a + b == 0 ? null : a + b);
        total += bytes;
    }

    /** Returns the partitions that something was counted for. */
    synchronized List<Long> partitions() {
        return List.copyOf(used.keySet());
    }

    /** Returns the bytes of a partition; of all for partition 0. */
    synchronized long used(long partition) {
        return partition == 0 ? total : used.getOrDefault(partition, 0L);
    }

    /**
     * Counts what an object grows by, if that is permitted.
     *
     * @param length bytes of the object afterwards
     */
    synchronized <E extends Exception> void grow(ObjectId object, long length, long bytes,
            Growth<E> growth) throws E {
        long ofPartition = used.getOrDefault(object.partition(), 0L) + bytes;
        growth.check(object, length, ofPartition, total + bytes);
        used.put(object.partition(), ofPartition);
        total += bytes;
    }
}
