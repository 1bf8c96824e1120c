package lunar.scsi.target;

import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.primary.TargetPortGroups;
import lunar.scsi.primary.TargetPortGroups.State;
import lunar.scsi.target.PortGroupStates.GroupState;
import org.jspecify.annotations.Nullable;

/**
 * Asymmetric access states of a logical unit: one for each target port group, which is an iSCSI portal group as a port
 * of one target (SPC-5 section 5.18). Servers that share the unit share them through the store; otherwise they last as
 * long as the process. Thread-safe.
 */
public final class AsymmetricAccess {
    private static final String NAME = "port-groups";

    private static final UnitState.Format<PortGroupStates> FORMAT = new UnitState.Format<>() {
        @Override
        public byte[] encode(PortGroupStates state) { return state.encode(); }

        @Override
        public PortGroupStates decode(byte[] saved) throws IOException {
            return PortGroupStates.decode(saved);
        }
    };

    private final UnitState<PortGroupStates> states;

    /** @throws IOException when the states that servers share cannot be read */
    AsymmetricAccess(StateStore store) throws IOException {
        states = new UnitState<>(store.isShared() ? store : StateStore.inMemory(), NAME,
                PortGroupStates.NONE, FORMAT);
    }

    /** Whether other servers change the states, too. */
    boolean isShared() {
        return states.isShared();
    }

    /**
     * Begins to follow the changes of other servers, where the states are shared.
     *
     * @param changed told the names of targets with a group in another state
     * @throws IOException when the states cannot be read
     */
    void begin(Consumer<Set<String>> changed) throws IOException {
        states.begin(new UnitState.Follower<>() {
            @Override
            public CompletableFuture<Void> follow(PortGroupStates before, PortGroupStates after) {
                changed.accept(after.targetsChangedSince(before));
                return CompletableFuture.completedFuture(null);
            }
        });
    }

    /** Follows no more changes of other servers. */
    void end() { states.end(); }

    GroupState of(TargetPort group) { return states.value().of(group); }

    /** Which targets a change concerns, and whether their nexuses have to be told that another one followed it. */
    record Change(Set<String> targetNames, boolean overtaken) {}

    /**
     * Changes states of groups, all in one step. Blocks where they are shared, until all servers act by them.
     *
     * @throws StorageException when they cannot be saved
     */
    Change change(Map<TargetPort, State> wanted, int statusCode) throws StorageException {
        var made = save(before -> {
            PortGroupStates after = before.with(wanted, statusCode);
            return after.equals(before) && !isShared() ? null : after;
        });
        if (made == null) {
            return new Change(Set.of(), false);
        }
        return new Change(made.overtaken()
                ? wanted.keySet().stream().map(TargetPort::targetName).collect(Collectors.toSet())
                : made.after().targetsChangedSince(made.before()), made.overtaken());
    }

    private UnitState.@Nullable Change<PortGroupStates> save(
            UnitState.Step<PortGroupStates, RuntimeException> step) throws StorageException {
        try {
            return states.change(step, (_, _) -> false);
        } catch (StorageException e) {
            throw e;
        } catch (IOException e) { // of the store: no step refuses
            throw new DeviceGoneException(
                    "states of port groups cannot be saved: " + e.getMessage(), e);
        }
    }

    /**
     * Puts a group of a target that has just got the unit into its state, over what another target of this name may
     * have left there while its last commands go on. No nexus is told: none has seen the unit there. Does nothing where
     * the states are shared.
     */
    void begin(TargetPort group, State state) {
        if (!isShared() && of(group).state() != state) {
            var _ = states.changeUnsaved(before -> before.with(Map.of(group, state),
                    TargetPortGroups.CHANGED_IMPLICITLY));
        }
    }

    /**
     * Sets states of groups that servers have not set yet. Blocks; does nothing where the states are not shared.
     *
     * @throws StorageException when they cannot be saved
     */
    void setUnknown(Map<TargetPort, State> wanted) throws StorageException {
        if (isShared()) {
            save(before -> {
                var unknown = wanted.entrySet().stream()
                        .filter(entry -> !before.groups().containsKey(entry.getKey()))
                        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
                return unknown.isEmpty()
                        ? null
                        : before.with(unknown, TargetPortGroups.CHANGED_IMPLICITLY);
            });
        }
    }

    /** Forgets the states of a target that does not have the unit any more, unless other servers may still have it. */
    void forget(String targetName) {
        if (!isShared()) {
            var _ = states.changeUnsaved(
                    before -> before.without(group -> group.targetName().equals(targetName)));
        }
    }

    /** Whether the medium can be used through a port. */
    public boolean isActive(TargetPort port) {
        return inactive(port) == null;
    }

    /**
     * Returns the state of a port that is not active and permits few commands; null for an active port. While it is not
     * known whether the port is active, it is in transition.
     */
    @Nullable
    State inactive(TargetPort port) {
        UnitState.View<PortGroupStates> now = states.view();
        State state = now.value().inactive(port);
        if (state != null) {
            return state;
        }
        PortGroupStates proposed = now.proposed();
        return proposed == null || proposed.inactive(port) == null ? null : State.TRANSITIONING;
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
