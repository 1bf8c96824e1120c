package lunar.scsi.target;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.function.Predicate;
import lunar.block.StorageException;
import lunar.scsi.AdditionalSense;
import lunar.scsi.primary.TargetPortGroups.State;
import lunar.scsi.target.reservation.Reservations;
import org.jspecify.annotations.Nullable;

/**
 * A logical unit (SAM-5 section 4.6): a device, the server that executes commands on it, and the state common to all
 * device types. Shared by all nexuses; thread-safe.
 */
public final class LogicalUnit {
    /** Creates the device of a unit. */
    @FunctionalInterface
    interface DeviceMaker {
        PeripheralDevice make(LogicalUnit unit) throws IOException;
    }

    /** Creates the device server of a unit. */
    @FunctionalInterface
    interface ServerMaker {
        DeviceServer make(LogicalUnit unit, PeripheralDevice device);
    }

    private final UnitKey key;
    private final Reservations reservations;
    private final AsymmetricAccess access = new AsymmetricAccess();
    private final PowerOn powerOn = new PowerOn();
    private final Buffers.Share share = new Buffers.Share();
    private final Set<TargetDevice> targets = new CopyOnWriteArraySet<>();
    private final PeripheralDevice device;
    private final DeviceServer server;

    /**
     * @param targetName target of registrations that were saved without a target name
     * @throws IOException if the saved state cannot be read, or is damaged
     */
    LogicalUnit(UnitKey key, StateStore state, String targetName, DeviceMaker devices,
            ServerMaker servers) throws IOException {
        this.key = key;
        reservations = new Reservations(state, targetName);
        device = devices.make(this);
        server = servers.make(this, device);
    }

    /** Returns the identity of the unit. */
    public UnitKey key() { return key; }

    /** Returns the device that its device type created. */
    public PeripheralDevice device() {
        return device;
    }

    /** Returns the device server, which executes the commands of this unit. */
    public DeviceServer server() {
        return server;
    }

    /** Returns the reservations and registrations. */
    public Reservations reservations() {
        return reservations;
    }

    /** Returns the access states of the unit's target port groups. */
    public AsymmetricAccess access() {
        return access;
    }

    /** Returns the share of the server's buffer memory for commands of this unit. */
    public Buffers.Share share() {
        return share;
    }

    // --- targets and nexuses ---

    /** Adds the unit to a target. Several targets may share the unit with its reservations and mode pages. */
    void join(TargetDevice target) {
        synchronized (targets) {
            targets.add(target);
        }
    }

    void leave(TargetDevice target) {
        synchronized (targets) { // so that states of a target that joins concurrently are kept
            targets.remove(target);
            if (targets.stream().noneMatch(other -> other.name().equals(target.name()))) {
                access.forget(target.name());
            }
        }
    }

    /** Returns the number of ports of all targets that have the unit. */
    public int portCount() {
        return targets.stream().mapToInt(target -> target.ports().size()).sum();
    }

    /** Returns the nexuses of all targets that have the unit. */
    public List<Nexus> nexuses() {
        return targets.stream().flatMap(target -> target.nexuses().stream()).toList();
    }

    /** Establishes a unit attention condition for every nexus. */
    public void establish(AdditionalSense condition) {
        establishForOthers(null, condition);
    }

    /** Establishes a unit attention condition for every nexus except one, in all targets that have the unit. */
    public void establishForOthers(@Nullable Nexus but, AdditionalSense condition) {
        for (Nexus nexus : nexuses()) {
            if (!nexus.equals(but)) {
                nexus.establish(this, condition);
            }
        }
    }

    /**
     * Changes the state of a target port group; establishes a unit attention for the nexuses of its target, except for
     * the nexus that requested the change.
     *
     * @param by nexus that requested the change, or null for the device itself
     */
    void changeAccess(TargetPort group, State state, int statusCode, @Nullable Nexus by) {
        if (access.change(group, state, statusCode)) {
            for (Nexus nexus : nexuses()) {
                if (nexus.port().targetName().equals(group.targetName()) && !nexus.equals(by)) {
                    nexus.establish(this, AdditionalSense.ASYMMETRIC_ACCESS_STATE_CHANGED);
                }
            }
        }
    }

    /** Returns the first unit attention condition of a new nexus. */
    AdditionalSense firstAttention(Nexus nexus) {
        return powerOn.attention(nexus.port().targetName() + "," + nexus.port().tag() + ","
                + nexus.initiatorPort());
    }

    // --- resets and aborts ---

    /**
     * Resets the logical unit (SAM-5 section 6.3.3): restores the state that commands have changed. The caller aborts
     * the tasks and establishes the unit attentions. May be called by any thread.
     *
     * @return completes when the device is reset, {@link PeripheralDevice#reset}
     */
    public CompletableFuture<Void> reset() {
        reservations.reset();
        return device.reset();
    }

    /**
     * Releases the resources of a nexus that is lost or was reset (SAM-5 section 6.3.4). May be called by any thread.
     *
     * @return completes when no operation of the nexus is in progress
     */
    public CompletableFuture<Void> nexusLost(Nexus nexus) {
        reservations.release(nexus);
        return device.nexusLost(nexus);
    }

    /** Cancels operations of a nexus that outlast their commands; completes when they can no longer have an effect. */
    public CompletableFuture<Void> cancel(Nexus nexus) {
        return device.cancel(nexus);
    }

    /**
     * Stops copies to this unit, {@link PeripheralDevice#stopChanges}; completes when they can no longer have an
     * effect.
     */
    public CompletableFuture<Void> stopChanges(Predicate<Nexus> of) {
        return device.stopChanges(of);
    }

    /** Completes when no background operation uses the device. */
    public CompletableFuture<Void> quiet() {
        return device.quiet();
    }

    /** Stops following changes by other servers; called when no LUN has the unit any longer. */
    public void end() {
        reservations.end();
    }

    /**
     * Checks whether the device has changed by itself, and establishes unit attentions for a change. May block.
     *
     * @throws StorageException if the device cannot be queried
     */
    public void refresh() throws StorageException { device.refresh(); }
}
