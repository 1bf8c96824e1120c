package lunar.scsi.target;

import java.util.List;
import java.util.stream.Stream;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Cdb;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.Lun;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.command.CdbDecoder;
import lunar.scsi.primary.LunList;
import lunar.scsi.primary.ReportLuns;
import lunar.scsi.primary.RequestSense;
import lunar.scsi.vpd.Inquiry;
import lunar.scsi.vpd.StandardInquiry;

/**
 * Device server of LUNs without a logical unit (SAM-5 section 4.6.4): executes INQUIRY, REPORT LUNS and REQUEST SENSE,
 * and rejects all other commands.
 */
public final class AbsentDeviceServer implements DeviceServer {
    private static final Sense NOT_SUPPORTED = Sense.of(SenseKey.ILLEGAL_REQUEST,
            AdditionalSense.LOGICAL_UNIT_NOT_SUPPORTED);

    public AbsentDeviceServer() {}

    @Override
    public void prepare(ScsiTask task) {
        try {
            Cdb cdb = CdbDecoder.decode(task.cdbBytes());
            switch (cdb) {
                case Inquiry(boolean evpd, _, _) when !evpd -> task.accept(cdb, 0);
                case ReportLuns _,RequestSense _ -> task.accept(cdb, 0);
                default -> task.refuse(NOT_SUPPORTED);
            }
        } catch (InvalidCdbException _) {
            task.refuse(NOT_SUPPORTED);
        }
    }

    @Override
    public void execute(ScsiTask task) {
        switch (task.cdb()) {
            case Inquiry inquiry -> task.good(
                    StandardInquiry.nothing("LUNAR", "NONE", "0.1").bytes(),
                    inquiry.allocationLength());
            case ReportLuns report -> reportLuns(task, report);
            case RequestSense request -> task.good(
                    NOT_SUPPORTED.encode(request.descriptorFormat()), request.allocationLength());
            default -> throw new IllegalStateException(task.cdb().toString());
        }
    }

    /**
     * Executes REPORT LUNS, which is the same at every LUN (SPC-5 section 6.34): reports the LUNs that the nexus may
     * access. There is no administrative logical unit, so no LUN is subordinate to one. Clears the nexus's pending
     * REPORTED LUNS DATA HAS CHANGED, because the command has reported the change (SAM-5 section 5.14).
     */
    static void reportLuns(ScsiTask task, ReportLuns report) {
        if (report.select() != 0x01) { // cleared before the list is read, so that no concurrent change is missed
            task.nexus().clearAttention(AdditionalSense.REPORTED_LUNS_DATA_HAS_CHANGED);
        }
        List<Lun> luns = switch (report.select()) {
            case 0x00, 0x11 -> task.nexus().luns().luns();
            case 0x01 -> List.of(Lun.REPORT_LUNS);
            case 0x02 -> Stream.concat(task.nexus().luns().luns().stream(),
                    Stream.of(Lun.REPORT_LUNS)).toList();
            case 0x10, 0x12 -> List.of();
            default -> null;
        };
        if (luns == null) {
            task.checkCondition(Sense.invalidFieldInCdb(2, 7));
        } else {
            task.good(new LunList(luns).bytes(), report.allocationLength());
        }
    }
}
