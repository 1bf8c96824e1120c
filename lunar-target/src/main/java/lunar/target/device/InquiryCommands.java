package lunar.target.device;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import lunar.block.BlockDevice;
import lunar.block.Capability;
import lunar.block.Identity;
import lunar.block.Limits;
import lunar.scsi.BlockDeviceCharacteristics;
import lunar.scsi.BlockLimits;
import lunar.scsi.Bytes;
import lunar.scsi.Designator;
import lunar.scsi.DeviceIdentification;
import lunar.scsi.ExtendedInquiry;
import lunar.scsi.Identifier;
import lunar.scsi.Inquiry;
import lunar.scsi.LogicalBlockProvisioning;
import lunar.scsi.ModePagePolicy;
import lunar.scsi.Naa;
import lunar.scsi.OtherVpdPage;
import lunar.scsi.Referrals;
import lunar.scsi.ScsiPorts;
import lunar.scsi.Sense;
import lunar.scsi.StandardInquiry;
import lunar.scsi.SupportedVpdPages;
import lunar.scsi.UnitSerialNumber;
import lunar.scsi.VpdPage;
import lunar.scsi.WriteVerifier;

/** INQUIRY: the standard data and the pages of vital product data (SPC-5 section 6.7, SBC-4 section 6.6). */
final class InquiryCommands {
    private static final int MANAGEMENT_NETWORK_ADDRESSES = 0x85;
    private static final int EXPLICIT_AND_IMPLICIT = 3;
    /** Rotation rate that a turning disk claims; nothing depends on the number. */
    private static final int ROTATIONS_PER_MINUTE = 7200;

    private final LogicalUnit unit;
    private final BlockDevice device;
    private final int maxTransferBlocks;

    InquiryCommands(LogicalUnit unit, int maxTransferBlocks) {
        this.unit = unit;
        device = unit.device();
        this.maxTransferBlocks = maxTransferBlocks;
    }

    void register(CommandSet commands) { commands.on(Inquiry.class, Access.FREE, this::execute); }

    private void execute(ScsiTask task, Inquiry command) {
        if (!command.evpd()) {
            Identity identity = device.identity();
            task.good(
                    StandardInquiry.disk(identity.vendor(), identity.product(), identity.revision())
                            .withTpgs(EXPLICIT_AND_IMPLICIT)
                            .withMultiPort(unit.ports(task.nexus()).size() > 1)
                            .withRemovable(unit.spec().removable()).withThirdPartyCopy(true)
                            .bytes(),
                    command.allocationLength());
            return;
        }
        List<VpdPage> pages = pages(task.nexus());
        if (command.page() == SupportedVpdPages.CODE) {
            task.good(SupportedVpdPages.of(pages).bytes(), command.allocationLength());
            return;
        }
        for (VpdPage page : pages) {
            if (page.pageCode() == command.page()) {
                task.good(page.bytes(), command.allocationLength());
                return;
            }
        }
        task.checkCondition(Sense.invalidFieldInCdb(2, 7));
    }

    /** The pages of this unit, by ascending code. */
    private List<VpdPage> pages(Nexus nexus) {
        var pages = new ArrayList<VpdPage>();
        pages.add(new UnitSerialNumber(device.identity().serial()));
        pages.add(identification(nexus.port()));
        pages.add(new OtherVpdPage(MANAGEMENT_NETWORK_ADDRESSES, Bytes.EMPTY));
        pages.add(new ExtendedInquiry(false, false, true, true, true, true, false,
                UnitModes.MAX_SENSE_BYTES));
        pages.add(ModePagePolicy.shared());
        pages.add(ports(nexus));
        pages.add(CopyLimits.page(device));
        pages.add(blockLimits());
        pages.add(characteristics());
        pages.add(provisioning());
        pages.add(Referrals.NONE);
        pages.add(new WriteVerifier(unit.powerOn().writeVerifier()));
        return pages;
    }

    private DeviceIdentification identification(TargetPort port) {
        var designators = new ArrayList<>(unitDesignators(device));
        designators.addAll(List.of(
                Designator.ofPort(new Identifier.RelativeTargetPort(port.relativeId())),
                Designator.ofPort(new Identifier.TargetPortGroup(port.tag())),
                Designator.ofPort(new Identifier.ScsiName(port.name())),
                Designator.ofDevice(new Identifier.ScsiName(port.targetName()))));
        return new DeviceIdentification(designators);
    }

    /** The names of the unit itself, by which copies find it; the best comes first. */
    static List<Designator> unitDesignators(BlockDevice device) {
        Identity identity = device.identity();
        return List.of(Designator.ofUnit(Naa.locallyAssigned(identity.uuid())),
                Designator.ofUnit(
                        new Identifier.T10VendorId(identity.vendor(), identity.serial())));
    }

    private ScsiPorts ports(Nexus nexus) {
        return new ScsiPorts(unit.ports(nexus).stream()
                .map(port -> new ScsiPorts.Port(port.relativeId(),
                        List.of(Designator.ofPort(new Identifier.ScsiName(port.name())))))
                .toList());
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
                unit.spec().rotational()
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
