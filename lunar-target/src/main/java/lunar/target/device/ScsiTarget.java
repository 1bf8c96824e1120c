package lunar.target.device;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import lunar.scsi.Lun;
import org.jspecify.annotations.Nullable;

/** A SCSI target device (SAM-5 section 4.6): its logical units and the nexuses that use them. Thread-safe. */
public final class ScsiTarget {
    private final String name;
    private final Map<Integer, LogicalUnit> units = new ConcurrentSkipListMap<>();
    private final Set<Nexus> nexuses = ConcurrentHashMap.newKeySet();
    private final DeviceServer absent = new AbsentDeviceServer(this);

    public ScsiTarget(String name) { this.name = name; }

    /** iSCSI name. */
    public String name() { return name; }

    /** Puts a unit at a LUN. */
    public void add(int lun, LogicalUnit unit) { units.put(lun, unit); }

    /** All logical units. */
    public Collection<LogicalUnit> units() { return units.values(); }

    /** LUNs in ascending order. */
    List<Lun> luns() {
        return units.keySet().stream().map(Lun::of).toList();
    }

    /** The unit at a LUN, or null. */
    public @Nullable LogicalUnit unit(Lun lun) {
        return units.get(lun.number());
    }

    /** Who executes commands for a LUN, be there a unit or not. */
    public DeviceServer server(Lun lun) {
        LogicalUnit unit = unit(lun);
        return unit == null ? absent : unit.server();
    }

    /** The nexuses of now; whoever begins one adds it, and removes it at its end. */
    public Set<Nexus> nexuses() {
        return nexuses;
    }
}
