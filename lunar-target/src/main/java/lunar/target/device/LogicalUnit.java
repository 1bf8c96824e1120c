package lunar.target.device;

import java.io.IOException;
import lunar.block.BlockDevice;
import lunar.target.unit.UnitSpec;

/** A logical unit: a device and who executes commands on it. Shared by all nexuses; thread-safe. */
public final class LogicalUnit {
    private final UnitSpec spec;
    private final Medium medium = new Medium();
    private final Reservations reservations;
    private final FencedDevice device;
    private final Buffers.Share share = new Buffers.Share();
    private final UnitModes modes;
    private final LogCounters counters = new LogCounters();
    private final Thresholds thresholds;
    private final AsymmetricAccess access;
    private final DeviceServer server;

    /**
     * With the state that was saved.
     *
     * @param target whose unit this is
     * @param maxTransferBytes longest data of one command
     * @throws IOException when the saved state cannot be read, or is damaged
     */
    public LogicalUnit(ScsiTarget target, UnitSpec spec, int maxTransferBytes)
            throws IOException {
        this.spec = spec;
        reservations = new Reservations(spec.state());
        modes = new UnitModes(spec);
        thresholds = new Thresholds(target, this, modes, spec.device());
        device = FencedDevice
                .over(new UnitDevice(spec, modes, counters, thresholds));
        access = new AsymmetricAccess(target, this);
        server = new BlockDeviceServer(target, this, maxTransferBytes);
    }

    UnitSpec spec() { return spec; }

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

    /** Whether writes are refused: by the device, by what the unit is, or by SWP of the Control page. */
    boolean writeProtected() {
        return device.readOnly() || spec.readOnly() || modes.softwareWriteProtect();
    }

    /** The mode pages. */
    UnitModes modes() { return modes; }

    /** What the log pages count. */
    LogCounters counters() { return counters; }

    /** Provisioning thresholds. */
    Thresholds thresholds() { return thresholds; }

    /** States of the target port groups. */
    AsymmetricAccess access() { return access; }

    public DeviceServer server() { return server; }

    /** What its commands have of the server's memory. */
    public Buffers.Share share() {
        return share;
    }

    /**
     * A logical unit reset (SAM-5 section 6.3.3): what commands have set goes back to what it was. Its tasks are
     * aborted apart from this, and the unit attentions established. Any thread.
     */
    public void reset() {
        medium.allowRemoval();
        reservations.reset();
        modes.reset();
    }

    /** A nexus is lost or was reset (SAM-5 section 6.3.4): forgets what it held. Any thread. */
    public void nexusLost(Nexus nexus) {
        medium.prevent(nexus, false);
        reservations.release(nexus);
    }
}
