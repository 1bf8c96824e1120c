package lunar.target.device;

import java.io.IOException;
import lunar.block.BlockDevice;
import lunar.target.unit.UnitSpec;

/** A logical unit: a device and who executes commands on it. Shared by all nexuses; thread-safe. */
public final class LogicalUnit {
    private final UnitSpec spec;
    private final Medium medium = new Medium();
    private final Reservations reservations;
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
        server = new BlockDeviceServer(target, this, maxTransferBytes);
    }

    UnitSpec spec() { return spec; }

    Medium medium() { return medium; }

    Reservations reservations() { return reservations; }

    public BlockDevice device() { return spec.device(); }

    /** A nexus is no more: what the unit did for it alone ends (SAM-5 section 6.3.4). */
    void nexusLost(Nexus nexus) {
        medium.prevent(nexus, false);
        reservations.release(nexus);
    }

    /** A logical unit reset (SAM-5 section 6.3.3); commands have been aborted before. */
    public void reset() {
        medium.allowRemoval();
        reservations.reset();
    }

    public DeviceServer server() { return server; }
}
