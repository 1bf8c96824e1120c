package lunar.cli.serve;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import lunar.block.Size;
import lunar.cli.command.Errors;
import lunar.cli.osd.ObjectStoreInfo;
import lunar.initiator.Initiator;
import lunar.initiator.Session;
import lunar.initiator.SessionOptions;
import lunar.initiator.scsi.ScsiUnit;
import lunar.osd.client.AccessDeniedException;
import lunar.osd.client.Osd;
import lunar.osd.client.OsdInfo;
import lunar.scsi.block.CapacityData16;
import lunar.scsi.vpd.StandardInquiry;

/** The logical units of a target, of any device type. */
final class UnitList {
    /**
     * A logical unit.
     *
     * @param line for people
     * @param tree for machines
     */
    record Unit(String line, Map<String, Object> tree) {}

    private UnitList() {}

    /** Logs in and asks each unit what it is; a unit that cannot tell is in the list with the reason. */
    static List<Unit> of(Initiator initiator, SessionOptions target) throws IOException {
        var units = new ArrayList<Unit>();
        try (Session session = initiator.login(target)) {
            for (ScsiUnit unit : ScsiUnit.scan(session)) {
                var tree = new LinkedHashMap<String, Object>();
                tree.put("lun", unit.lun().number());
                String text;
                try {
                    text = describe(session, unit, tree);
                } catch (IOException e) {
                    text = Errors.message(e);
                    tree.put("error", text);
                }
                units.add(new Unit("lun " + unit.lun().number() + " " + text, tree));
            }
        }
        return units;
    }

    private static String describe(Session session, ScsiUnit unit, Map<String, Object> tree)
            throws IOException {
        StandardInquiry inquiry = unit.inquiry().standard();
        return switch (inquiry.deviceType()) {
            case StandardInquiry.DISK -> {
                CapacityData16 capacity = unit.capacity();
                long bytes = (capacity.lastLba() + 1) * capacity.blockSize();
                tree.put("type", "disk");
                tree.put("sizeBytes", bytes);
                yield "disk " + Size.format(bytes) + " " + inquiry.product().strip();
            }
            case StandardInquiry.OSD -> {
                try {
                    OsdInfo info = Osd.open(session, unit.lun()).info();
                    tree.putAll(ObjectStoreInfo.tree(info));
                    yield ObjectStoreInfo.line(info);
                } catch (AccessDeniedException _) {
                    tree.put("type", ObjectStoreInfo.TYPE);
                    yield ObjectStoreInfo.SECURED;
                }
            }
            default -> {
                String type = Integer.toHexString(inquiry.deviceType()) + "h";
                tree.put("type", type);
                yield "device type " + type + " " + inquiry.product().strip();
            }
        };
    }
}
