package lunar.cli.serve;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import lunar.block.DeviceUri;
import lunar.block.Size;
import lunar.server.ServedPortal;
import lunar.server.ServedUnit;
import lunar.server.ServerChange;
import lunar.server.StorageServer;

/** Formats what a server serves, and what has changed, as lines for the operator. */
final class ChangeReport {
    private ChangeReport() {}

    static String serving(ServedUnit lun, List<ServedPortal> portals) {
        return serving(lun, texts(portals).stream());
    }

    private static String serving(ServedUnit lun, Stream<String> portals) {
        return "serving " + name(lun) + (lun.sizeBytes() < 0 ? "" : " " + size(lun)) + " on "
                + portals.collect(Collectors.joining(","));
    }

    /** Describes in one line what a server serves. */
    static String summary(StorageServer server) {
        List<ServedUnit> units = server.units();
        long targets = units.stream().map(ServedUnit::iqn).distinct().count();
        return "serving " + count(units.size(), "LUN") + " of " + count(targets, "target") + " on "
                + String.join(", ", texts(server.servedPortals()));
    }

    private static String count(long number, String noun) {
        return number + " " + noun + (number == 1 ? "" : "s");
    }

    /** Describes a change, in several lines. */
    static List<String> lines(ServerChange change) {
        return lines(change.unitsBefore(), change.units(), texts(change.portalsBefore()),
                texts(change.portals()));
    }

    private static List<String> texts(List<ServedPortal> portals) {
        return portals.stream().map(ServedPortal::toString).toList();
    }

    /** Describes a change of units, some of whose sizes may be unknown, and of portals. */
    static List<String> lines(List<ServedUnit> unitsBefore, List<ServedUnit> units,
            List<String> portalsBefore, List<String> portals) {
        var lines = new ArrayList<String>();
        missing(portalsBefore, portals)
                .forEach(portal -> lines.add("no longer listening on " + portal));
        missing(portals, portalsBefore).forEach(portal -> lines.add("listening on " + portal));
        Map<String, ServedUnit> old = byPlace(unitsBefore);
        Map<String, ServedUnit> now = byPlace(units);
        old.forEach((place, lun) -> {
            ServedUnit then = now.get(place);
            if (then == null || !lun.isSameDevice(then)) {
                lines.add("no longer serving " + name(lun));
            }
        });
        now.forEach((place, lun) -> {
            ServedUnit then = old.get(place);
            if (then == null || !lun.isSameDevice(then)) {
                lines.add(serving(lun, portals.stream()));
            } else if (then.sizeBytes() != lun.sizeBytes() && then.sizeBytes() >= 0
                    && lun.sizeBytes() >= 0) {
                lines.add(resized(then, lun));
            }
        });
        return lines;
    }

    /** Describes the change of a device's size. */
    static String resized(ServedUnit then, ServedUnit lun) {
        return "resized " + name(lun) + " from " + size(then) + " to " + size(lun);
    }

    private static List<String> missing(List<String> of, List<String> in) {
        return of.stream().filter(each -> !in.contains(each)).toList();
    }

    static Map<String, ServedUnit> byPlace(List<ServedUnit> luns) {
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
