package lunar.osd.store.directory;

import java.util.HashSet;
import java.util.Set;

/** Data that a transaction takes from objects: single data ids, whole partitions, or all. */
final class Dropped {
    private final Set<Long> data = new HashSet<>();
    private final Set<Long> partitions = new HashSet<>();
    private boolean all;

    void add(long dataId) { data.add(dataId); }

    void addPartition(long partition) { partitions.add(partition); }

    void addAll() { all = true; }

    void addAll(Dropped other) {
        data.addAll(other.data);
        partitions.addAll(other.partitions);
        all |= other.all;
    }

    boolean isEmpty() { return !all && data.isEmpty() && partitions.isEmpty(); }

    boolean has(DataFile file) {
        return all || data.contains(file.data())
                || partitions.contains(file.object().partition());
    }
}
