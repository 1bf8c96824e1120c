package lunar.scsi.target;

import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import lunar.block.StorageException;
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

    /** Returns the ports; each is an iSCSI portal group and a target port group of its own. */
    @Override
    public List<TargetPort> ports() { return ports; }

    /** Sets the ports. */
    public void present(List<TargetPort> by) { ports = List.copyOf(by); }

    /** Returns the iSCSI name. */
    @Override
    public String name() { return name; }

    /**
     * Changes the asymmetric access state of a target port group for every logical unit, as an operator does (an
     * implicit change, SPC-5 section 5.18). All nexuses hear of it. Blocks where servers share a unit.
     *
     * @param group tag of the portal group
     * @throws IllegalArgumentException when there is no such group, or the state is none that a group can be in
     * @throws StorageException when the state of a unit could not be changed at all servers; those of others are
     */
    public void changeAccess(int group, TargetPortGroups.State state) throws StorageException {
        changeAccess(group, state, units);
    }

    /** Like {@link #changeAccess(int, TargetPortGroups.State)}, but only for some of its logical units. */
    public void changeAccess(int group, TargetPortGroups.State state,
            Collection<LogicalUnit> some) throws StorageException {
        TargetPort port = port(group);
        switch (state) {
            case ACTIVE_OPTIMIZED, ACTIVE_NON_OPTIMIZED, STANDBY, UNAVAILABLE, TRANSITIONING ->
                changeAccess(Map.of(port, state), some);
            case LOGICAL_BLOCK_DEPENDENT, OFFLINE -> throw new IllegalArgumentException(
                    "a portal group cannot be in the state " + state);
        }
    }

    private static void changeAccess(Map<TargetPort, TargetPortGroups.State> wanted,
            Collection<LogicalUnit> some) throws StorageException {
        StorageException failure = null;
        for (LogicalUnit unit : some) {
            try {
                unit.changeAccess(wanted, TargetPortGroups.CHANGED_IMPLICITLY, null);
            } catch (StorageException e) {
                if (failure == null) {
                    failure = e;
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    /**
     * Puts a group into its state for units that are new to the target, whatever state they had. Does nothing to units
     * that servers share; see {@link LogicalUnit#presetAccess}.
     */
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

    /** Sets the units, by LUN. Each nexus accesses them by its own {@link LunMap}. */
    public void serve(Map<Integer, LogicalUnit> all) {
        Collection<LogicalUnit> before = units;
        units = Set.copyOf(all.values());
        units.forEach(unit -> unit.join(this));
        before.stream().filter(unit -> !units.contains(unit)).forEach(unit -> unit.leave(this));
    }

    /** Returns all logical units. */
    public Collection<LogicalUnit> units() { return units; }

    /** Returns the device server of a LUN for a nexus with this LUN map, whether or not the LUN has a unit. */
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
     * Releases reservations, and cancels background operations, such as copies, of a nexus that has no more tasks; also
     * at units that the target does not serve any more, as long as the nexus has them in its {@link LunMap}.
     *
     * @return completes when none of the operations can have an effect any longer; then the caller calls {@link #end}
     */
    public CompletableFuture<Void> lose(Nexus nexus) {
        var all = new HashSet<>(units);
        all.addAll(nexus.luns().units());
        return CompletableFuture.allOf(all.stream().map(unit -> unit.nexusLost(nexus))
                .toArray(CompletableFuture[]::new));
    }

    /** Removes a nexus, after {@link #lose}. */
    public void end(Nexus nexus) {
        nexuses.remove(nexus);
    }
}
