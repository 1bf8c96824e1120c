package lunar.target.device;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Capability;
import lunar.block.StorageException;
import lunar.scsi.AdditionalSense;
import lunar.target.unit.UnitSpec;

/** A logical unit: a device and the server that executes commands on it. Shared by all nexuses; thread-safe. */
public final class LogicalUnit {
    private static final System.Logger LOG = System.getLogger("lunar.target");

    private volatile UnitSpec spec;
    private final Medium medium = new Medium();
    private final Reservations reservations;
    private final UnitDevice presented;
    private final FencedDevice device;
    private final CopyWrites copyWrites;
    private final Buffers.Share share = new Buffers.Share();
    private final UnitModes modes;
    private final LogCounters counters = new LogCounters();
    private final LossNotices losses = new LossNotices();
    private final Thresholds thresholds;
    private final AsymmetricAccess access;
    private final AtomicLong capacity;
    private final Erasures erasures;
    private final SelfTest selfTest;
    private final PowerOn powerOn;
    private volatile DeviceServer server;
    /** Of resets; guarded by this. */
    private CompletableFuture<Void> flushed = CompletableFuture.completedFuture(null);
    private final Set<ScsiTarget> targets = new CopyOnWriteArraySet<>();

    /**
     * Creates a unit with the state that was saved.
     *
     * @param target the first target that has the unit
     * @param maxTransferBytes longest data of one command
     * @param abortTimeoutMs how long the device has to end what is aborted
     * @throws IOException when the saved state cannot be read, or is damaged
     */
    public LogicalUnit(ScsiTarget target, UnitSpec spec, int maxTransferBytes,
            long abortTimeoutMs)
            throws IOException {
        this.spec = spec;
        reservations = new Reservations(spec.state(), target.name());
        modes = new UnitModes(spec);
        thresholds = new Thresholds(this, modes, spec.device());
        presented = new UnitDevice(spec, modes, counters, thresholds);
        device = FencedDevice.over(presented);
        copyWrites = new CopyWrites(device, abortTimeoutMs);
        access = new AsymmetricAccess(this);
        capacity = new AtomicLong(spec.device().blockCount());
        selfTest = new SelfTest(device);
        powerOn = new PowerOn(device);
        erasures = new Erasures(medium, device, spec.state());
        server = new BlockDeviceServer(target, this, maxTransferBytes);
        erasures.resume(spec.readOnly() || device.readOnly());
    }

    /** Returns the spec that it is made of. */
    public UnitSpec spec() { return spec; }

    /**
     * Changes what the unit presents to that of a spec; its device and where its state is kept stay. Unit attentions
     * tell all nexuses what has changed.
     */
    public synchronized void present(UnitSpec wanted) {
        UnitSpec before = spec;
        UnitSpec after = before.withRemovable(wanted.removable())
                .withRotational(wanted.rotational()).withReadOnly(wanted.readOnly())
                .withThick(wanted.thick());
        spec = after;
        presented.present(after.thick());
        if (!after.removable()) { // it could not be put in again
            medium.allowRemoval();
            medium.eject(false);
        }
        if (before.removable() != after.removable() || before.rotational() != after.rotational()
                || before.thick() != after.thick()) {
            tell(AdditionalSense.INQUIRY_DATA_HAS_CHANGED);
        }
        if (before.readOnly() != after.readOnly()) { // WP stands in the mode parameter header
            tell(AdditionalSense.MODE_PARAMETERS_CHANGED);
        }
        if (before.thick() != after.thick()) { // LBPME stands in the capacity data
            tell(AdditionalSense.CAPACITY_DATA_HAS_CHANGED);
        }
    }

    private void tell(AdditionalSense condition) {
        nexuses().forEach(nexus -> nexus.establish(this, condition));
    }

    /** Makes it a unit of this target too: several may share it, with its reservations and mode pages. */
    void join(ScsiTarget target) {
        synchronized (targets) {
            targets.add(target);
        }
    }

    void leave(ScsiTarget target) {
        synchronized (targets) { // or it would forget the states of one that has joined meanwhile
            targets.remove(target);
            if (targets.stream().noneMatch(other -> other.name().equals(target.name()))) {
                access.forget(target.name());
            }
        }
    }

    /** The ports of the target by which a nexus uses the unit: another target's are those of another SCSI device. */
    List<TargetPort> ports(Nexus nexus) {
        return targets.stream().filter(target -> target.nexuses().contains(nexus)).findFirst()
                .map(ScsiTarget::ports).orElseGet(() -> List.of(nexus.port()));
    }

    /** Returns the number of ports of all targets that have the unit. */
    int portCount() {
        return targets.stream().mapToInt(target -> target.ports().size()).sum();
    }

    /** Returns the nexuses of all targets that have the unit. */
    public List<Nexus> nexuses() {
        return targets.stream().flatMap(target -> target.nexuses().stream()).toList();
    }

    /**
     * Checks whether the medium has become larger or smaller, and tells the nexuses of a change (SBC-4 section 4.5).
     * May block.
     *
     * @throws StorageException when the medium does not tell; the capacity is what it was
     */
    public void checkCapacity() throws StorageException {
        try {
            device.refresh();
        } finally {
            long now = device.blockCount();
            if (capacity.getAndSet(now) != now) {
                tell(AdditionalSense.CAPACITY_DATA_HAS_CHANGED);
            }
        }
    }

    /** Ends when nothing works on the medium that no command waits for. */
    public CompletableFuture<Void> quiet() {
        return medium.running().map(LongOperation::end)
                .orElseGet(() -> CompletableFuture.completedFuture(null));
    }

    Medium medium() { return medium; }

    Reservations reservations() { return reservations; }

    /**
     * The device as commands use it: with the rules of the mode pages, and behind the fence that keeps them apart from
     * what aborted ones have left; never go past it.
     */
    public BlockDevice device() { return device; }

    /** The medium, which may stand behind other units too: two that are equal are one. Only to compare. */
    BlockDevice store() {
        return spec.device();
    }

    /** Copies that write to it. */
    CopyWrites copyWrites() { return copyWrites; }

    /** Its self-tests. */
    SelfTest selfTest() { return selfTest; }

    /** Tells nexuses of its last power on. */
    PowerOn powerOn() { return powerOn; }

    /** SANITIZE and FORMAT UNIT. */
    Erasures erasures() { return erasures; }

    /** Whether writes are refused: by the device, by what the unit is, or by SWP of the Control page. */
    boolean writeProtected() {
        return device.readOnly() || spec.readOnly() || modes.softwareWriteProtect();
    }

    /** The mode pages. */
    UnitModes modes() { return modes; }

    /** Counters of the log pages. */
    LogCounters counters() { return counters; }

    /** Notices of lost writes that are still owed. */
    LossNotices losses() { return losses; }

    /** Provisioning thresholds. */
    Thresholds thresholds() { return thresholds; }

    /** States of the target port groups. */
    AsymmetricAccess access() { return access; }

    public DeviceServer server() { return server; }

    /**
     * Puts a device server in front of the present one, for commands that the present one does not know; it passes all
     * others on. Before the first command.
     */
    public void extend(UnaryOperator<DeviceServer> by) { server = by.apply(server); }

    /** Returns its commands' share of the server's memory. */
    public Buffers.Share share() {
        return share;
    }

    /**
     * Resets the logical unit (SAM-5 section 6.3.3): what commands have set goes back to what it was. Its tasks are
     * aborted apart from this, and the unit attentions established. Any thread.
     *
     * @return ends when no copy writes any more, and what the write cache held is stable where this reset has switched
     *         it off, or one before
     */
    public CompletableFuture<Void> reset() {
        medium.allowRemoval();
        reservations.reset();
        CompletableFuture<Void> stable = resetModes();
        selfTest.stop();
        return CompletableFuture.allOf(copyWrites.stop(_ -> true), stable);
    }

    /** Ends with the flushes of all resets, so that one does not succeed while that of another is under way. */
    private synchronized CompletableFuture<Void> resetModes() {
        if (modes.reset()) { // has switched the write cache off
            flushed = CompletableFuture.allOf(flushed, flush());
        }
        return flushed;
    }

    /** Flushes for no command. A reset cannot fail: the next command that vouches for stable data tells of it. */
    private CompletableFuture<Void> flush() {
        var done = new CompletableFuture<Void>();
        device.submit(new BlockRequest().asFlush().onCompletion((_, failure) -> {
            if (failure != null) {
                LOG.log(System.Logger.Level.WARNING,
                        "{0}: a reset switched the write cache off, and what it held is not stable: {1}",
                        device, failure.getMessage());
                losses.lost(device.writeLosses(), nexuses());
            }
            done.complete(null);
        }));
        return done;
    }

    /**
     * Forgets what a nexus held that is lost or was reset (SAM-5 section 6.3.4). Any thread.
     *
     * @return ends when its copies write no more that went on after their commands
     */
    public CompletableFuture<Void> nexusLost(Nexus nexus) {
        medium.prevent(nexus, false);
        reservations.release(nexus);
        return nexus.cancelCopies(this);
    }
}
