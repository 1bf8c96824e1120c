package lunar.scsi.target;

import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import lunar.scsi.Lun;
import org.jspecify.annotations.Nullable;

/**
 * Maps LUNs to the logical units that one nexus can access (SAM-5 section 4.6.4: the mapping may differ for each I_T
 * nexus). Immutable; a lookup allocates nothing.
 */
public final class LunMap {
    /**
     * Mapped logical unit.
     *
     * @param readOnly whether this nexus may only read it, though others may write it
     */
    public record Entry(LogicalUnit unit, boolean readOnly) {}

    /** Empty map. */
    public static final LunMap NONE = new LunMap(new TreeMap<>(Map.of()));

    private final SortedMap<Integer, Entry> entries;

    /** LUNs in ascending order, for the lookup at every command; the entry at the same index is the unit. */
    private final int[] numbers;
    private final Entry[] found;

    /** @param entries by LUN */
    public LunMap(SortedMap<Integer, Entry> entries) {
        this.entries = Collections.unmodifiableSortedMap(new TreeMap<>(entries));
        numbers = this.entries.keySet().stream().mapToInt(Integer::intValue).toArray();
        found = this.entries.values().toArray(Entry[]::new);
    }

    /** Returns the LUNs in ascending order. */
    List<Lun> luns() {
        return entries.keySet().stream().map(Lun::of).toList();
    }

    private @Nullable Entry entry(Lun lun) {
        int at = Arrays.binarySearch(numbers, lun.number());
        return at < 0 ? null : found[at];
    }

    /** Returns the unit at a LUN; null if there is none, not an Optional, which each command would allocate. */
    public @Nullable LogicalUnit unit(Lun lun) {
        Entry entry = entry(lun);
        return entry == null ? null : entry.unit();
    }

    /** Whether the LUNs or their units differ; ignores write access. */
    public boolean hasOtherUnits(LunMap than) {
        return !entries.keySet().equals(than.entries.keySet()) || entries.entrySet().stream()
                .anyMatch(one -> !one.getValue().unit()
                        .equals(Objects.requireNonNull(than.entries.get(one.getKey())).unit()));
    }

    /** Returns all units without duplicates. */
    public Collection<LogicalUnit> units() {
        return entries.values().stream().map(Entry::unit).collect(Collectors.toSet());
    }

    /** Whether the nexus may only read the unit at a LUN; true if there is no unit, as after one was removed. */
    public boolean isReadOnly(Lun lun) {
        Entry entry = entry(lun);
        return entry == null || entry.readOnly();
    }

    /** Whether the nexus may only read a unit. */
    public boolean isReadOnly(LogicalUnit unit) {
        return entries.values().stream().anyMatch(one -> one.readOnly() && one.unit().equals(unit));
    }
}
