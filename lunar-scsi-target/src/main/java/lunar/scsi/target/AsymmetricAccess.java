package lunar.scsi.target;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.primary.TargetPortGroups;
import lunar.scsi.primary.TargetPortGroups.State;
import org.jspecify.annotations.Nullable;

/**
 * Asymmetric access states of a logical unit: one for each target port group, which is an iSCSI portal group as a port
 * of one target (SPC-5 section 5.18). They last as long as the process. Thread-safe.
 */
public final class AsymmetricAccess {
    /** A state, and why it was last changed. */
    record GroupState(State state, int statusCode) {}

    private static final GroupState INITIAL = new GroupState(State.ACTIVE_OPTIMIZED, 0);

    private final Map<TargetPort, GroupState> groups = new ConcurrentHashMap<>();
    /** Read by every command: whether no group has ever been anything but active. */
    private volatile boolean allActive = true;

    AsymmetricAccess() {}

    GroupState of(TargetPort group) { return groups.getOrDefault(group, INITIAL); }

    /** Changes the state of a group; returns whether it was another one. */
    synchronized boolean change(TargetPort group, State state, int statusCode) {
        boolean changes = of(group).state() != state;
        put(group, state, statusCode);
        return changes;
    }

    /**
     * Initializes the state of a group of a target that has just got the unit; replaces a state that another target of
     * this name may have left while its last commands complete. Establishes no unit attention, because no nexus has
     * accessed the unit there.
     */
    synchronized void begin(TargetPort group, State state) {
        if (of(group).state() != state) {
            put(group, state, TargetPortGroups.CHANGED_IMPLICITLY);
        }
    }

    private void put(TargetPort group, State state, int statusCode) {
        groups.put(group, new GroupState(state, statusCode));
        if (!isActive(state)) {
            allActive = false;
        }
    }

    /** Forgets the states of a target that does not have the unit any more. */
    synchronized void forget(String targetName) {
        groups.keySet().removeIf(group -> group.targetName().equals(targetName));
    }

    private static boolean isActive(State state) {
        return state == State.ACTIVE_OPTIMIZED || state == State.ACTIVE_NON_OPTIMIZED;
    }

    /** Whether the medium can be used through a port. */
    public boolean isActive(TargetPort port) {
        return inactive(port) == null;
    }

    /** Returns the state of a port that is not active and permits few commands; null for an active port. */
    @Nullable
    State inactive(TargetPort port) {
        if (allActive) {
            return null;
        }
        State state = of(port).state();
        return isActive(state) ? null : state;
    }

    /** Returns the sense data of a command that a state does not permit. */
    static Sense sense(State state) {
        return Sense.of(SenseKey.NOT_READY, switch (state) {
            case STANDBY -> AdditionalSense.TARGET_PORT_IN_STANDBY_STATE;
            case TRANSITIONING -> AdditionalSense.ASYMMETRIC_ACCESS_STATE_TRANSITION;
            default -> AdditionalSense.TARGET_PORT_IN_UNAVAILABLE_STATE;
        });
    }
}
