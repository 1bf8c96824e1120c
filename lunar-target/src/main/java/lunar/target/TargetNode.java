package lunar.target;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import lunar.scsi.Lun;
import org.jspecify.annotations.Nullable;

/** A target node at work: the logical units of its spec and the sessions that use them. Thread-safe. */
final class TargetNode {
    private final TargetSpec spec;
    private final Map<Integer, LogicalUnit> units = new TreeMap<>();
    private final Set<Session> sessions = ConcurrentHashMap.newKeySet();
    private final DeviceServer absent = new AbsentDeviceServer(this);

    TargetNode(TargetSpec spec, ServerLimits limits) {
        this.spec = spec;
        spec.luns().forEach(
                (lun, device) -> units.put(lun, new LogicalUnit(this, lun, device, limits)));
    }

    TargetSpec spec() { return spec; }

    Collection<LogicalUnit> units() { return units.values(); }

    /** LUNs in ascending order. */
    List<Lun> luns() {
        return units.keySet().stream().map(Lun::of).toList();
    }

    /** The unit at a LUN, or null. */
    @Nullable
    LogicalUnit unit(Lun lun) { return units.get(lun.number()); }

    /** Who executes commands for a LUN, be there a unit or not. */
    DeviceServer server(Lun lun) {
        LogicalUnit unit = unit(lun);
        return unit == null ? absent : unit.server();
    }

    Set<Session> sessions() { return sessions; }
}
