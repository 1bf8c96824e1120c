package lunar.target.device;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Cdb;
import lunar.scsi.Inquiry;
import lunar.scsi.LogSelect;
import lunar.scsi.LogSense;
import lunar.scsi.ModeSelect;
import lunar.scsi.ModeSense;
import lunar.scsi.PersistentReserveIn;
import lunar.scsi.PersistentReserveOut;
import lunar.scsi.ReadBuffer;
import lunar.scsi.ReceiveDiagnosticResults;
import lunar.scsi.ReportLuns;
import lunar.scsi.ReportTargetPortGroups;
import lunar.scsi.RequestSense;
import lunar.scsi.SendDiagnostic;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.SetTargetPortGroups;
import lunar.scsi.TargetPortGroups;
import lunar.scsi.TargetPortGroups.State;
import lunar.scsi.WriteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Asymmetric access states of a logical unit: one for each target port group, which is an iSCSI portal group as a port
 * of one target (SPC-5 section 5.18). They last as long as the process. Thread-safe.
 */
final class AsymmetricAccess {
    /** A state, and why it was last changed. */
    record GroupState(State state, int statusCode) {}

    private static final GroupState INITIAL = new GroupState(State.ACTIVE_OPTIMIZED, 0);

    /** Commands that pass in the unavailable state (SPC-5 section 5.18.2.4.5). */
    private static final Set<Class<? extends Cdb>> ALWAYS = Set.of(Inquiry.class, ReportLuns.class,
            ReportTargetPortGroups.class, SetTargetPortGroups.class, RequestSense.class);
    /** More that pass in the standby state (section 5.18.2.4.4). */
    private static final Set<Class<? extends Cdb>> STANDBY = Set.of(LogSelect.class, LogSense.class,
            ModeSelect.class, ModeSense.class, SendDiagnostic.class,
            ReceiveDiagnosticResults.class, PersistentReserveIn.class, PersistentReserveOut.class);

    private final LogicalUnit unit;
    private final Map<TargetPort, GroupState> groups = new ConcurrentHashMap<>();
    /** Read by every command: whether no group has ever been anything but active. */
    private volatile boolean allActive = true;

    AsymmetricAccess(LogicalUnit unit) { this.unit = unit; }

    GroupState of(TargetPort group) { return groups.getOrDefault(group, INITIAL); }

    /**
     * Changes the state of a group; nexuses of its target hear of it, but for the one that asked for it.
     *
     * @param by the nexus that asked, or null for the device itself
     */
    synchronized void change(TargetPort group, State state, int statusCode, @Nullable Nexus by) {
        boolean same = of(group).state() == state;
        put(group, state, statusCode);
        if (!same) {
            unit.nexuses().stream()
                    .filter(nexus -> nexus.port().targetName().equals(group.targetName())
                            && !nexus.equals(by))
                    .forEach(nexus -> nexus.establish(unit,
                            AdditionalSense.ASYMMETRIC_ACCESS_STATE_CHANGED));
        }
    }

    /**
     * Puts a group of a target that has just got the unit into its state, over what another target of this name may
     * have left there while its last commands go on. No nexus is told: none has seen the unit there.
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
    boolean isActive(TargetPort port) {
        return allActive || isActive(of(port).state());
    }

    /** Ends a command that may not pass in the state of the port by which it came. */
    boolean refuses(ScsiTask task) {
        if (allActive) {
            return false;
        }
        State state = of(task.nexus().port()).state();
        if (isActive(state) || passes(task.cdb(), state)) {
            return false;
        }
        task.checkCondition(Sense.of(SenseKey.NOT_READY, switch (state) {
            case STANDBY -> AdditionalSense.TARGET_PORT_IN_STANDBY_STATE;
            case TRANSITIONING -> AdditionalSense.ASYMMETRIC_ACCESS_STATE_TRANSITION;
            default -> AdditionalSense.TARGET_PORT_IN_UNAVAILABLE_STATE;
        }));
        return true;
    }

    private static boolean passes(Cdb cdb, State state) {
        return switch (cdb) {
            case ReadBuffer buffer -> buffer.mode() == ReadBuffer.ECHO
                    || buffer.mode() == ReadBuffer.ECHO_DESCRIPTOR;
            case WriteBuffer buffer -> buffer.mode() == WriteBuffer.ECHO;
            case SetTargetPortGroups _ -> state != State.TRANSITIONING;
            default -> ALWAYS.contains(cdb.getClass())
                    || (state == State.STANDBY && STANDBY.contains(cdb.getClass()));
        };
    }
}
