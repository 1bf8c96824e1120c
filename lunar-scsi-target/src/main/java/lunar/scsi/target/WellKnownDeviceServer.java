package lunar.scsi.target;

import java.util.List;
import lunar.scsi.Cdb;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.Sense;
import lunar.scsi.command.CdbDecoder;
import lunar.scsi.primary.ReportLuns;
import lunar.scsi.primary.RequestSense;
import lunar.scsi.primary.TestUnitReady;
import lunar.scsi.vpd.Designator;
import lunar.scsi.vpd.DeviceIdentification;
import lunar.scsi.vpd.Identifier;
import lunar.scsi.vpd.Inquiry;
import lunar.scsi.vpd.StandardInquiry;
import lunar.scsi.vpd.SupportedVpdPages;
import lunar.scsi.vpd.VpdPage;

/** The REPORT LUNS well-known logical unit (SPC-5 section 9.2), which every target has. */
final class WellKnownDeviceServer implements DeviceServer {
    private final ScsiTarget target;

    WellKnownDeviceServer(ScsiTarget target) { this.target = target; }

    @Override
    public void prepare(ScsiTask task) {
        try {
            Cdb cdb = CdbDecoder.decode(task.cdbBytes());
            switch (cdb) {
                case Inquiry _,ReportLuns _,RequestSense _,TestUnitReady _ -> task.accept(cdb, 0);
                default -> task.refuse(InvalidCdbException.operationCode().sense());
            }
        } catch (InvalidCdbException e) {
            task.refuse(e.sense());
        }
    }

    @Override
    public void execute(ScsiTask task) {
        switch (task.cdb()) {
            case Inquiry inquiry -> inquire(task, inquiry);
            case ReportLuns report -> AbsentDeviceServer.reportLuns(task, report);
            case RequestSense request -> task.good(Sense.NONE.encode(request.descriptorFormat()),
                    request.allocationLength());
            case TestUnitReady _ -> task.good();
            default -> throw new IllegalStateException(task.cdb().toString());
        }
    }

    private void inquire(ScsiTask task, Inquiry command) {
        if (!command.evpd()) {
            task.good(StandardInquiry.wellKnown("LUNAR", "REPORT LUNS", "0.1").bytes(),
                    command.allocationLength());
            return;
        }
        TargetPort port = task.nexus().port();
        VpdPage identification = new DeviceIdentification(List.of(
                Designator.ofPort(new Identifier.RelativeTargetPort(port.relativeId())),
                Designator.ofPort(new Identifier.ScsiName(port.name())),
                Designator.ofDevice(new Identifier.ScsiName(target.name()))));
        VpdPage page = switch (command.page()) {
            case SupportedVpdPages.CODE -> SupportedVpdPages.of(List.of(identification));
            case DeviceIdentification.CODE -> identification;
            default -> null;
        };
        if (page == null) {
            task.checkCondition(Sense.invalidFieldInCdb(2, 7));
        } else {
            task.good(page.bytes(StandardInquiry.WELL_KNOWN), command.allocationLength());
        }
    }
}
