package lunar.cli.serve;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import lunar.block.DeviceUri;
import lunar.block.Size;
import lunar.server.ServedPortal;
import lunar.server.ServedUnit;
import lunar.server.ServerChange;

/** Formats what a server serves, and what has changed, as lines for the operator. */
final class ChangeReport {
    private ChangeReport() {}

    static String serving(ServedUnit lun, List<ServedPortal> portals) {
        return "serving " + name(lun) + " " + size(lun) + " on "
                + portals.stream().map(ServedPortal::toString).collect(Collectors.joining(","));
    }

    /** Describes a change, in several lines. */
    static List<String> lines(ServerChange change) {
        var lines = new ArrayList<String>();
        missing(change.portalsBefore(), change.portals())
                .forEach(portal -> lines.add("no longer listening on " + portal));
        missing(change.portals(), change.portalsBefore())
                .forEach(portal -> lines.add("listening on " + portal));
        Map<String, ServedUnit> old = byPlace(change.unitsBefore());
        Map<String, ServedUnit> now = byPlace(change.units());
        old.forEach((place, lun) -> {
            ServedUnit then = now.get(place);
            if (then == null || !lun.isSameDevice(then)) {
                lines.add("no longer serving " + name(lun));
            }
        });
        now.forEach((place, lun) -> {
            ServedUnit then = old.get(place);
            if (then == null || !lun.isSameDevice(then)) {
                lines.add(serving(lun, change.portals()));
            } else if (then.sizeBytes() != lun.sizeBytes()) {
                lines.add("resized " + name(lun) + " from " + size(then) + " to " + size(lun));
            }
        });
        return lines;
    }

    private static List<ServedPortal> missing(List<ServedPortal> of,
            List<ServedPortal> in) {
        return of.stream().filter(each -> !in.contains(each)).toList();
    }

    private static Map<String, ServedUnit> byPlace(List<ServedUnit> luns) {
        var places = new LinkedHashMap<String, ServedUnit>();
        luns.forEach(lun -> places.put(lun.iqn() + " " + lun.lun(), lun));
        return places;
    }

    private static String name(ServedUnit lun) {
        return lun.iqn() + " lun " + lun.lun() + " " + DeviceUri.withoutSecret(lun.uri());
    }

    private static String size(ServedUnit lun) {
        return Size.format(lun.sizeBytes()).replace(" ", "");
    }
}
