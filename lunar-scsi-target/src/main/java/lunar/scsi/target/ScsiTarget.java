package lunar.scsi.target;

import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import lunar.scsi.Lun;
import lunar.scsi.primary.TargetPortGroups;

/** A SCSI target device (SAM-5 section 4.6): its logical units and the nexuses that use them. Thread-safe. */
public final class ScsiTarget implements TargetDevice {
    private final String name;
    private volatile List<TargetPort> ports;
    private volatile Collection<LogicalUnit> units = Set.of();
    private final Set<Nexus> nexuses = ConcurrentHashMap.newKeySet();
    private final DeviceServer absent = new AbsentDeviceServer();
    private final DeviceServer wellKnown = new WellKnownDeviceServer(this);

    /**
     * @param name iSCSI name
     * @param ports its ports, of which every nexus uses one
     */
    public ScsiTarget(String name, List<TargetPort> ports) {
        this.name = name;
        this.ports = List.copyOf(ports);
    }

    /** Its ports: each a portal group, which is a target port group of its own. */
    @Override
    public List<TargetPort> ports() { return ports; }

    /** Sets the ports. */
    public void present(List<TargetPort> by) { ports = List.copyOf(by); }

    /** iSCSI name. */
    @Override
    public String name() { return name; }

    /**
     * Changes the asymmetric access state of a target port group for every logical unit, as an operator does (an
     * implicit change, SPC-5 section 5.18). All nexuses hear of it.
     *
     * @param group tag of the portal group
     * @throws IllegalArgumentException when there is no such group, or the state is none that a group can be in
     */
    public void changeAccess(int group, TargetPortGroups.State state) {
        changeAccess(group, state, units);
    }

    /** Like {@link #changeAccess(int, TargetPortGroups.State)}, but for some of its logical units. */
    public void changeAccess(int group, TargetPortGroups.State state,
            Collection<LogicalUnit> some) {
        TargetPort port = port(group);
        switch (state) {
            case ACTIVE_OPTIMIZED, ACTIVE_NON_OPTIMIZED, STANDBY, UNAVAILABLE, TRANSITIONING ->
                some.forEach(unit -> unit.changeAccess(port, state,
                        TargetPortGroups.CHANGED_IMPLICITLY, null));
            case LOGICAL_BLOCK_DEPENDENT, OFFLINE -> throw new IllegalArgumentException(
                    "a portal group cannot be " + state);
        }
    }

    /** Puts a group into its state for units that are new to the target, whatever state they had. */
    public void beginAccess(int group, TargetPortGroups.State state,
            Collection<LogicalUnit> fresh) {
        TargetPort port = port(group);
        fresh.forEach(unit -> unit.access().begin(port, state));
    }

    private TargetPort port(int group) {
        return ports.stream().filter(one -> one.tag() == group).findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "no portal group " + group + " of " + name));
    }

    /** Sets the units, by LUN. Nexuses see them by their own {@link LunMap}. */
    public void serve(Map<Integer, LogicalUnit> all) {
        Collection<LogicalUnit> before = units;
        units = Set.copyOf(all.values());
        units.forEach(unit -> unit.join(this));
        before.stream().filter(unit -> !units.contains(unit)).forEach(unit -> unit.leave(this));
    }

    /** All logical units. */
    public Collection<LogicalUnit> units() { return units; }

    /** Returns the server of a LUN for a nexus that sees these LUNs, be there a unit or not. */
    public DeviceServer server(LunMap luns, Lun lun) {
        if (lun.equals(Lun.REPORT_LUNS)) {
            return wellKnown;
        }
        LogicalUnit unit = luns.unit(lun);
        return unit == null ? absent : unit.server();
    }

    /** Returns the present nexuses. */
    @Override
    public Set<Nexus> nexuses() { return Collections.unmodifiableSet(nexuses); }

    /** Adds a nexus. */
    public void begin(Nexus nexus) { nexuses.add(nexus); }

    /**
     * Cancels what a nexus without tasks has left that goes on by itself, such as copies in the background.
     *
     * @return ends when nothing of that can be seen to write any more: then the nexus may {@link #end}
     */
    public CompletableFuture<Void> lose(Nexus nexus) {
        return CompletableFuture.allOf(units.stream().map(unit -> unit.nexusLost(nexus))
                .toArray(CompletableFuture[]::new));
    }

    /** Removes a nexus, after {@link #lose}. */
    public void end(Nexus nexus) {
        nexuses.remove(nexus);
    }
}
