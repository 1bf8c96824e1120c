package lunar.target.device;

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
 * The logical units that one nexus sees, by the LUNs under which it sees them (SAM-5 section 4.6.4: the mapping may
 * differ for each I_T nexus). Immutable.
 *
 * @param entries by LUN
 */
public record LunMap(SortedMap<Integer, Entry> entries) {
    /**
     * A unit that is seen.
     *
     * @param readOnly whether this nexus may not change it, though others may
     */
    public record Entry(LogicalUnit unit, boolean readOnly) {}

    /** Nothing is seen. */
    public static final LunMap NONE = new LunMap(new TreeMap<>(Map.of()));

    public LunMap {
        entries = Collections.unmodifiableSortedMap(new TreeMap<>(entries));
    }

    /** LUNs in ascending order. */
    List<Lun> luns() {
        return entries.keySet().stream().map(Lun::of).toList();
    }

    /** The unit at a LUN, or null. */
    public @Nullable LogicalUnit unit(Lun lun) {
        Entry entry = entries.get(lun.number());
        return entry == null ? null : entry.unit();
    }

    /** Whether the LUNs, or what is at them, differ; not whether it may be changed. */
    public boolean hasOtherUnits(LunMap than) {
        return !entries.keySet().equals(than.entries.keySet()) || entries.entrySet().stream()
                .anyMatch(one -> !one.getValue().unit()
                        .equals(Objects.requireNonNull(than.entries.get(one.getKey())).unit()));
    }

    /** All units, each once. */
    public Collection<LogicalUnit> units() {
        return entries.values().stream().map(Entry::unit).collect(Collectors.toSet());
    }

    /** Whether the nexus may not change what is at a LUN. */
    boolean isReadOnly(Lun lun) {
        Entry entry = entries.get(lun.number());
        return entry != null && entry.readOnly();
    }

    /** Whether the nexus may not change a unit. */
    public boolean isReadOnly(LogicalUnit unit) {
        return entries.values().stream().anyMatch(one -> one.readOnly() && one.unit().equals(unit));
    }
}
