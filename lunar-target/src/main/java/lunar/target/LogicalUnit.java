package lunar.target;

import lunar.block.BlockDevice;
import lunar.scsi.Lun;

/** A logical unit of a target: a device and who executes commands on it. Shared by all sessions; thread-safe. */
final class LogicalUnit {
    private final Lun lun;
    private final BlockDevice device;
    private final DeviceServer server;

    LogicalUnit(TargetNode target, int lun, BlockDevice device, ServerLimits limits) {
        this.lun = Lun.of(lun);
        this.device = device;
        server = new BlockDeviceServer(target, this, limits);
    }

    Lun lun() { return lun; }

    BlockDevice device() { return device; }

    DeviceServer server() { return server; }
}
