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
 * A logical unit (SAM-5 section 4.6): a device, the server that executes commands on it, and the state that all device
 * types have in common. Shared by all nexuses; thread-safe.
 */
public final class LogicalUnit {
    /** Makes the device of a unit. */
    @FunctionalInterface
    interface DeviceMaker {
        PeripheralDevice make(LogicalUnit unit) throws IOException;
    }

    /** Makes the device server of a unit. */
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
     * @param targetName target of registrations that were saved without one
     * @throws IOException when the saved state cannot be read, or is damaged
     */
    LogicalUnit(UnitKey key, StateStore state, String targetName, DeviceMaker devices,
            ServerMaker servers) throws IOException {
        this.key = key;
        reservations = new Reservations(state, targetName);
        device = devices.make(this);
        server = servers.make(this, device);
    }

    /** What tells the unit from others. */
    public UnitKey key() { return key; }

    /** The device, as its type has made it. */
    public PeripheralDevice device() { return device; }

    /** The server that executes commands of this unit. */
    public DeviceServer server() {
        return server;
    }

    /** Reservations and registrations. */
    public Reservations reservations() {
        return reservations;
    }

    /** States of the target port groups by which the unit is used. */
    public AsymmetricAccess access() {
        return access;
    }

    /** Returns its commands' share of the server's memory. */
    public Buffers.Share share() {
        return share;
    }

    // --- targets and nexuses ---

    /** Makes it a unit of this target too: several may share it, with its reservations and mode pages. */
    void join(TargetDevice target) {
        synchronized (targets) {
            targets.add(target);
        }
    }

    void leave(TargetDevice target) {
        synchronized (targets) { // or it would forget the states of one that has joined meanwhile
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

    /** Establishes a unit attention condition for every nexus but one, of all targets that have the unit. */
    public void establishForOthers(@Nullable Nexus but, AdditionalSense condition) {
        for (Nexus nexus : nexuses()) {
            if (!nexus.equals(but)) {
                nexus.establish(this, condition);
            }
        }
    }

    /**
     * Changes the state of a target port group; nexuses of its target hear of it, but for the one that asked for it.
     *
     * @param by the nexus that asked, or null for the device itself
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

    /** The unit attention condition of a new nexus. */
    AdditionalSense firstAttention(Nexus nexus) {
        return powerOn.attention(nexus.port().targetName() + "," + nexus.port().tag() + ","
                + nexus.initiatorPort());
    }

    // --- resets and aborts ---

    /**
     * Resets the logical unit (SAM-5 section 6.3.3): what commands have set goes back to what it was. Its tasks are
     * aborted apart from this, and the unit attentions established. Any thread.
     *
     * @return ends when the reset of the device has, {@link PeripheralDevice#reset}
     */
    public CompletableFuture<Void> reset() {
        reservations.reset();
        return device.reset();
    }

    /**
     * Forgets what a nexus held that is lost or was reset (SAM-5 section 6.3.4). Any thread.
     *
     * @return ends when nothing goes on that the nexus has begun
     */
    public CompletableFuture<Void> nexusLost(Nexus nexus) {
        reservations.release(nexus);
        return device.nexusLost(nexus);
    }

    /** Cancels what a nexus has begun here that goes on after its commands; ends when it has no effect any more. */
    public CompletableFuture<Void> cancel(Nexus nexus) {
        return device.cancel(nexus);
    }

    /** Stops copies to this unit, {@link PeripheralDevice#stopChanges}; ends when they have no effect any more. */
    public CompletableFuture<Void> stopChanges(Predicate<Nexus> of) {
        return device.stopChanges(of);
    }

    /** Ends when nothing works on the device that no command waits for. */
    public CompletableFuture<Void> quiet() {
        return device.quiet();
    }

    /** Follows no changes of other servers any more: no LUN has the unit. */
    public void end() {
        reservations.end();
    }

    /**
     * Looks whether the device has changed by itself; nexuses are told of a change. May block.
     *
     * @throws StorageException when the device does not tell
     */
    public void refresh() throws StorageException { device.refresh(); }
}
