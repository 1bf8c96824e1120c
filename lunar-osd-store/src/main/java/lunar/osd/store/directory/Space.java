package lunar.osd.store.directory;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import lunar.block.NoSpaceException;
import lunar.osd.store.Growth;
import lunar.osd.wire.ObjectId;

/**
 * Bytes of data of the user objects of each partition, and of all. What a growth was granted is counted at once, and
 * what is removed once that is committed, so that quotas are never exceeded. Thread-safe.
 */
final class Space {
    private final Map<Long, Long> used = new HashMap<>();
    private long total;
    /** Whether the medium has no space but for removals. */
    private volatile boolean full;
    private volatile Runnable whenFull = () -> {};

    /** Sets an action that is run when the medium turns out to be full. */
    void whenFull(Runnable action) {
        whenFull = action;
    }

    /** Records that the medium is full, so that nothing may grow. */
    void full() {
        synchronized (this) {
            if (full) {
                return;
            }
            full = true;
        }
        whenFull.run();
    }

    /** Records that the medium has space again. */
    void hasRoom() { full = false; }

    boolean isFull() { return full; }

    /** @throws NoSpaceException if the space that is left is for removals */
    void requireRoom() throws NoSpaceException {
        if (full) {
            throw new NoSpaceException("object store: no space left on the file system but for"
                    + " removals: remove objects, or make space");
        }
    }

    /** Counts bytes without asking. */
    synchronized void add(long partition, long bytes) {
        used.merge(partition, bytes, (a, b) -> a + b == 0 ? null : a + b);
        total += bytes;
    }

    /** Forgets what was counted. */
    synchronized void clear() {
        used.clear();
        total = 0;
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
            Growth<E> growth) throws NoSpaceException, E {
        if (bytes > 0) {
            requireRoom();
        }
        long ofPartition = used.getOrDefault(object.partition(), 0L) + bytes;
        growth.check(object, length, ofPartition, total + bytes);
        used.put(object.partition(), ofPartition);
        total += bytes;
    }
}
