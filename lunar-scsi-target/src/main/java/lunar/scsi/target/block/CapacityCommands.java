package lunar.scsi.target.block;

import lunar.block.BlockDevice;
import lunar.block.Capability;
import lunar.scsi.block.CapacityData10;
import lunar.scsi.block.CapacityData16;
import lunar.scsi.block.ReadCapacity10;
import lunar.scsi.block.ReadCapacity16;
import lunar.scsi.target.Access;
import lunar.scsi.target.CommandSet;

/** Executes READ CAPACITY (SBC-4 sections 5.20 and 5.21). */
final class CapacityCommands {
    private final BlockDevice device;

    CapacityCommands(BlockDevice device) { this.device = device; }

    void register(CommandSet commands) {
        commands.on(ReadCapacity10.class, Access.READY, (task, _) -> task.good(
                CapacityData10.of(device.blockCount(), device.blockSize()).bytes(), 8))
                .on(ReadCapacity16.class, Access.READY, (task, capacity) -> task
                        .good(capacity16().bytes(), capacity.allocationLength()));
    }

    private CapacityData16 capacity16() {
        int exponent = Integer
                .numberOfTrailingZeros(device.geometry().physicalBlockSize() / device.blockSize());
        boolean thin = device.supports(Capability.UNMAP);
        return new CapacityData16(device.blockCount() - 1, device.blockSize(), 0, exponent, thin,
                thin, 0);
    }
}
