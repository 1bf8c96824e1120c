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
    private final DeviceServer server;

    /**
     * @param target whose unit this is
     * @param maxTransferBytes longest data of one command
     * @throws IOException when the unit's saved state cannot be read
     */
    public LogicalUnit(ScsiTarget target, UnitSpec spec, int maxTransferBytes)
            throws IOException {
        this.spec = spec;
        reservations = new Reservations(spec.state());
        device = FencedDevice.over(spec.device());
        server = new BlockDeviceServer(target, this, maxTransferBytes);
    }

    UnitSpec spec() { return spec; }

    Medium medium() { return medium; }

    Reservations reservations() { return reservations; }

    /** The blocks, behind the fence that keeps commands apart from what aborted ones have left; never go past it. */
    public BlockDevice device() {
        return device;
    }

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
        server.reset();
    }

    /** A nexus is lost or was reset (SAM-5 section 6.3.4): forgets what it held. Any thread. */
    public void nexusLost(Nexus nexus) {
        medium.prevent(nexus, false);
        reservations.release(nexus);
    }
}
