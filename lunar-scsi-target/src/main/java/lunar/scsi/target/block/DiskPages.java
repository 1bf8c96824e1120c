package lunar.scsi.target.block;

import java.util.List;
import java.util.OptionalLong;
import lunar.block.BlockDevice;
import lunar.block.Capability;
import lunar.block.Limits;
import lunar.scsi.Bytes;
import lunar.scsi.target.copy.CopyLimits;
import lunar.scsi.vpd.BlockDeviceCharacteristics;
import lunar.scsi.vpd.BlockLimits;
import lunar.scsi.vpd.ExtendedInquiry;
import lunar.scsi.vpd.LogicalBlockProvisioning;
import lunar.scsi.vpd.ModePagePolicy;
import lunar.scsi.vpd.OtherVpdPage;
import lunar.scsi.vpd.Referrals;
import lunar.scsi.vpd.VpdPage;
import lunar.scsi.vpd.WriteVerifier;

/** Vital product data pages of a disk (SPC-5 section 7.7, SBC-4 section 6.6). */
final class DiskPages {
    private static final int MANAGEMENT_NETWORK_ADDRESSES = 0x85;
    /** Reported rotation rate of a rotational disk; nothing depends on the number. */
    private static final int ROTATIONS_PER_MINUTE = 7200;

    private final DiskUnit disk;
    private final BlockDevice device;
    private final int maxTransferBlocks;

    DiskPages(DiskUnit disk, int maxTransferBlocks) {
        this.disk = disk;
        device = disk.device();
        this.maxTransferBlocks = maxTransferBlocks;
    }

    List<VpdPage> all() {
        return List.of(new OtherVpdPage(MANAGEMENT_NETWORK_ADDRESSES, Bytes.EMPTY),
                new ExtendedInquiry(false, false, true, true, true, true, false,
                        DiskModes.MAX_SENSE_BYTES),
                ModePagePolicy.shared(), CopyLimits.page(device, disk.makesTokens()), blockLimits(),
                characteristics(), provisioning(), Referrals.NONE,
                new WriteVerifier(disk.writeVerifier()));
    }

    private BlockLimits blockLimits() {
        Limits limits = device.limits();
        boolean unmap = device.supports(Capability.UNMAP);
        int physicalBlocks = device.geometry().physicalBlockSize() / device.blockSize();
        return new BlockLimits(false,
                device.supports(Capability.COMPARE_AND_WRITE)
                        ? BlockCommands.maxCompareAndWriteBlocks(device)
                        : 0,
                physicalBlocks, maxTransferBlocks,
                Math.min(limits.optimalTransferBlocks(), maxTransferBlocks), 0,
                unmap ? ProvisioningCommands.maxUnmapBlocks(device) : 0,
                unmap ? ProvisioningCommands.MAX_UNMAP_DESCRIPTORS : 0, unmap ? physicalBlocks : 0,
                OptionalLong.empty(), device.blockCount(),
                AtomicCommands.maxAtomicBlocks(device, maxTransferBlocks));
    }

    private BlockDeviceCharacteristics characteristics() {
        return new BlockDeviceCharacteristics(
                disk.profile().rotational()
                        ? ROTATIONS_PER_MINUTE
                        : BlockDeviceCharacteristics.NON_ROTATING,
                0, 0, true, BlockDeviceCharacteristics.READS_SUCCEED,
                device.supports(Capability.KEY_ERASURE)
                        ? BlockDeviceCharacteristics.READS_SUCCEED
                        : 0);
    }

    private LogicalBlockProvisioning provisioning() {
        boolean unmap = device.supports(Capability.UNMAP);
        return new LogicalBlockProvisioning(
                device.usage().isPresent() ? Thresholds.exponent(device) : 0, unmap, unmap, unmap,
                unmap ? 1 : 0, false,
                unmap ? LogicalBlockProvisioning.THIN : 0);
    }
}
