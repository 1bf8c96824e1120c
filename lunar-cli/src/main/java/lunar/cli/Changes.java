package lunar.cli;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import lunar.block.DeviceUri;
import lunar.block.Size;

/** Tells what a server serves, and what has changed in it, in lines for people. */
final class Changes {
    private Changes() {}

    static String serving(RunningServer.Served lun, List<InetSocketAddress> portals) {
        return "serving " + name(lun) + " " + size(lun) + " on "
                + portals.stream().map(Portal::text).collect(Collectors.joining(","));
    }

    /** Describes the changes from before to after, a line each. */
    static List<String> lines(List<RunningServer.Served> before, List<RunningServer.Served> after,
            List<InetSocketAddress> portalsBefore, List<InetSocketAddress> portalsAfter) {
        var lines = new ArrayList<String>();
        missing(portalsBefore, portalsAfter)
                .forEach(portal -> lines.add("no longer listening on " + Portal.text(portal)));
        missing(portalsAfter, portalsBefore)
                .forEach(portal -> lines.add("listening on " + Portal.text(portal)));
        Map<String, RunningServer.Served> old = byPlace(before);
        Map<String, RunningServer.Served> now = byPlace(after);
        old.forEach((place, lun) -> {
            RunningServer.Served then = now.get(place);
            if (then == null || !isSameDevice(lun, then)) {
                lines.add("no longer serving " + name(lun));
            }
        });
        now.forEach((place, lun) -> {
            RunningServer.Served then = old.get(place);
            if (then == null || !isSameDevice(lun, then)) {
                lines.add(serving(lun, portalsAfter));
            } else if (then.sizeBytes() != lun.sizeBytes()) {
                lines.add("resized " + name(lun) + " from " + size(then) + " to " + size(lun));
            }
        });
        return lines;
    }

    private static List<InetSocketAddress> missing(List<InetSocketAddress> of,
            List<InetSocketAddress> in) {
        return of.stream().filter(each -> !in.contains(each)).toList();
    }

    private static boolean isSameDevice(RunningServer.Served one, RunningServer.Served other) {
        return DeviceKey.of(one.iqn(), one.lun(), one.uri())
                .isSameDevice(DeviceKey.of(other.iqn(), other.lun(), other.uri()));
    }

    private static Map<String, RunningServer.Served> byPlace(List<RunningServer.Served> luns) {
        var places = new LinkedHashMap<String, RunningServer.Served>();
        luns.forEach(lun -> places.put(lun.iqn() + " " + lun.lun(), lun));
        return places;
    }

    private static String name(RunningServer.Served lun) {
        return lun.iqn() + " lun " + lun.lun() + " " + DeviceUri.withoutSecret(lun.uri());
    }

    private static String size(RunningServer.Served lun) {
        return Size.format(lun.sizeBytes()).replace(" ", "");
    }
}
