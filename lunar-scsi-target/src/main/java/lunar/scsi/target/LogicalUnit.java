package lunar.scsi.target;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
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
    private final AsymmetricAccess access;
    private final UnitResets resets;
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
        access = new AsymmetricAccess(state);
        resets = new UnitResets(state);
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
     * Changes the states of target port groups in one step; nexuses of their targets hear of it, but for the one that
     * asked for it. Blocks where servers share the unit.
     *
     * @param by the nexus that asked, or null for the device itself
     * @throws StorageException when servers that share the unit cannot be told
     */
    void changeAccess(Map<TargetPort, State> wanted, int statusCode, @Nullable Nexus by)
            throws StorageException {
        AsymmetricAccess.Change made = access.change(wanted, statusCode);
        tellAccess(made.targetNames(), made.overtaken() ? null : by);
    }

    private void tellAccess(Set<String> targetNames, @Nullable Nexus but) {
        for (Nexus nexus : nexuses()) {
            if (targetNames.contains(nexus.port().targetName()) && !nexus.equals(but)) {
                nexus.establish(this, AdditionalSense.ASYMMETRIC_ACCESS_STATE_CHANGED);
            }
        }
    }

    /**
     * Sets the states of a target's port groups, by their tags, where servers share the unit and have not set them yet:
     * a server that starts has those that its specification names, and takes over all that have been changed. Blocks.
     *
     * @throws StorageException when they cannot be saved
     */
    public void presetAccess(Map<TargetPort, State> wanted) throws StorageException {
        access.setUnknown(wanted);
    }

    /** Whether servers share the unit. */
    public boolean isShared() { return access.isShared(); }

    /** The unit attention condition of a new nexus. */
    AdditionalSense firstAttention(Nexus nexus) {
        device.arriving();
        return powerOn.attention(nexusName(nexus));
    }

    /**
     * Records that writes which the unit had acknowledged may be lost: initiator ports whose session has not got its
     * first unit attention yet, or that have none, get the power on condition rather than that of a lost nexus.
     */
    public void lostWrites() {
        powerOn.lostWrites(nexuses().stream().filter(nexus -> nexus.isKnownTo(this))
                .map(LogicalUnit::nexusName).collect(Collectors.toSet()));
    }

    private static String nexusName(Nexus nexus) {
        return nexus.port().targetName() + "," + nexus.port().tag() + "," + nexus.initiatorPort();
    }

    // --- resets and aborts ---

    /**
     * Resets the logical unit (SAM-5 section 6.3.3): what commands have set goes back to what it was. Its tasks are
     * aborted apart from this, and the unit attentions established; those at other servers of the unit, by this. Any
     * thread.
     *
     * @return ends when the reset of the device has, {@link PeripheralDevice#reset}, and that at other servers;
     *         exceptionally where these cannot be told
     */
    public CompletableFuture<Void> reset() {
        reservations.reset();
        return CompletableFuture.allOf(device.reset(), resets.tellOthers());
    }

    private CompletableFuture<Void> resetByOther() {
        return CompletableFuture.allOf(device.resetByOther(), CompletableFuture.allOf(nexuses()
                .stream()
                .map(nexus -> nexus.abort(this, AdditionalSense.BUS_DEVICE_RESET_OCCURRED))
                .toArray(CompletableFuture[]::new)));
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

    /**
     * Begins to follow the changes of other servers that share the unit.
     *
     * @param effects applies what changes of reservations mean here
     * @throws IOException when the state that they share cannot be read
     */
    void begin(Reservations.Follower effects) throws IOException {
        try {
            reservations.begin(effects);
            access.begin(targetNames -> tellAccess(targetNames, null));
            resets.begin(this::resetByOther);
            device.startFollowing();
        } catch (IOException | RuntimeException e) {
            var _ = end();
            throw e;
        }
    }

    /**
     * Follows no changes of other servers any more: no LUN has the unit. Does not block.
     *
     * @return completes when another instance may use the state of the unit, within a bounded time
     */
    public CompletableFuture<Void> end() {
        reservations.end();
        access.end();
        resets.end();
        return device.stopFollowing();
    }

    /**
     * Checks whether the device has changed by itself, and establishes unit attentions for a change. May block.
     *
     * @throws StorageException if the device cannot be queried
     */
    public void refresh() throws StorageException { device.refresh(); }
}
