package lunar.target.device;

import lunar.block.BlockDevice;
import lunar.target.unit.UnitSpec;

/** A logical unit: a device and who executes commands on it. Shared by all nexuses; thread-safe. */
public final class LogicalUnit {
    private final UnitSpec spec;
    private final Medium medium = new Medium();
    private final DeviceServer server;

    /**
     * @param target whose unit this is
     * @param maxTransferBytes longest data of one command
     */
    public LogicalUnit(ScsiTarget target, UnitSpec spec, int maxTransferBytes) {
        this.spec = spec;
        server = new BlockDeviceServer(target, this, maxTransferBytes);
    }

    UnitSpec spec() { return spec; }

    Medium medium() { return medium; }

    public BlockDevice device() { return spec.device(); }

    public DeviceServer server() { return server; }
}
