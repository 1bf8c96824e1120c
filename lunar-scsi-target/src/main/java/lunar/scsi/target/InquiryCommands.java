package lunar.scsi.target;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import lunar.block.Identity;
import lunar.scsi.Sense;
import lunar.scsi.vpd.Designator;
import lunar.scsi.vpd.DeviceIdentification;
import lunar.scsi.vpd.Identifier;
import lunar.scsi.vpd.Inquiry;
import lunar.scsi.vpd.ScsiPorts;
import lunar.scsi.vpd.SupportedVpdPages;
import lunar.scsi.vpd.UnitSerialNumber;
import lunar.scsi.vpd.VpdPage;

/** Executes INQUIRY: standard data and vital product data pages (SPC-5 section 6.7). */
final class InquiryCommands {
    private static final int EXPLICIT_AND_IMPLICIT = 3;

    private final PeripheralDevice device;

    InquiryCommands(PeripheralDevice device) { this.device = device; }

    void register(CommandSet commands) {
        commands.add(CommandHandler.of(Inquiry.class, Access.FREE, this::execute)
                .passing((_, _) -> true));
    }

    private void execute(ScsiTask task, Inquiry command) {
        if (!command.evpd()) {
            task.good(device.inquiry().withTpgs(EXPLICIT_AND_IMPLICIT)
                    .withMultiPort(task.nexus().target().ports().size() > 1).bytes(),
                    command.allocationLength());
            return;
        }
        int type = device.inquiry().deviceType();
        List<VpdPage> pages = pages(task.nexus());
        if (command.page() == SupportedVpdPages.CODE) {
            task.good(SupportedVpdPages.of(pages).bytes(type), command.allocationLength());
            return;
        }
        for (VpdPage page : pages) {
            if (page.pageCode() == command.page()) {
                task.good(page.bytes(type), command.allocationLength());
                return;
            }
        }
        task.checkCondition(Sense.invalidFieldInCdb(2, 7));
    }

    /** Returns the VPD pages of this unit in ascending order of page code. */
    private List<VpdPage> pages(Nexus nexus) {
        var pages = new ArrayList<VpdPage>(device.vpdPages(nexus));
        pages.add(new UnitSerialNumber(device.identity().serial()));
        pages.add(identification(device.identity(), nexus.port()));
        pages.add(ports(nexus));
        pages.sort(Comparator.comparingInt(VpdPage::pageCode));
        return pages;
    }

    private static DeviceIdentification identification(Identity identity, TargetPort port) {
        var designators = new ArrayList<>(UnitNames.of(identity));
        designators.addAll(List.of(
                Designator.ofPort(new Identifier.RelativeTargetPort(port.relativeId())),
                Designator.ofPort(new Identifier.TargetPortGroup(port.tag())),
                Designator.ofPort(new Identifier.ScsiName(port.name())),
                Designator.ofDevice(new Identifier.ScsiName(port.targetName()))));
        return new DeviceIdentification(designators);
    }

    private static ScsiPorts ports(Nexus nexus) {
        return new ScsiPorts(nexus.target().ports().stream()
                .map(port -> new ScsiPorts.Port(port.relativeId(),
                        List.of(Designator.ofPort(new Identifier.ScsiName(port.name())))))
                .toList());
    }
}
