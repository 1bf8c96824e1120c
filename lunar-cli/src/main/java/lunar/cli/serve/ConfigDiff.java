package lunar.cli.serve;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import lunar.cli.config.ConfigFile;
import lunar.cli.config.ConfigTree;
import lunar.cli.config.Portal;
import lunar.iscsi.spi.Transports;
import lunar.server.ServedUnit;

/** Tells what a reload would change, in the words with which a server reports a reload. */
final class ConfigDiff {
    /** Settings that a reload leaves as they are. */
    private static final Set<String> NEXT_START = Set.of("state", "limits: connections",
            "limits: connections-per-address", "limits: loops", "limits: poll", "rdma-provider",
            "admin: enabled", "admin: socket", "admin: listen", "admin: token-file",
            "admin: allow-remote", "admin: certificate", "admin: key", "admin: client-ca");
    /** Keys that name an element of a list, and its title in messages. */
    private static final Map<String, String> NAMES = Map.of("target", "iqn", "initiator", "name",
            "portal-group", "tag", "volume", "name", "luns", "lun", "portals", "listen");
    private static final Map<String, String> TITLES = Map.of("luns", "lun", "portal-group",
            "portal group", "portals", "portal");
    /** Tables that a file has once. */
    private static final Set<String> SINGLE_TABLES = Set.of("limits", "admin");
    /** Reported as serving. */
    private static final String URI = "uri";
    /** A flag of a LUN that is served or no longer served, which says enough if the flag is not set. */
    private static final Pattern FLAG = Pattern.compile(".*: lun \\d+: .*");

    private ConfigDiff() {}

    /** Returns what changes from a file to another, a line each. */
    static List<String> lines(ConfigFile before, ConfigFile after) {
        var lines = new ArrayList<>(ChangeReport.lines(units(before), units(after),
                portals(before), portals(after)));
        noteShrunk(lines, units(before), units(after));
        lines.addAll(changes(flat(ConfigTree.of(before)), flat(ConfigTree.of(after))));
        return lines;
    }

    /**
     * Returns which settings take effect at a reload, a line each: not which devices and portals, nor those of targets,
     * LUNs and the like that are new or removed.
     */
    static List<String> reloaded(ConfigFile before, ConfigFile after) {
        Map<String, String> old = flat(ConfigTree.of(before));
        Map<String, String> now = flat(ConfigTree.of(after));
        Set<String> oldPlaces = places(old);
        Set<String> newPlaces = places(now);
        Predicate<String> isOther = setting -> NEXT_START.contains(setting)
                || !oldPlaces.contains(place(setting)) || !newPlaces.contains(place(setting));
        old.keySet().removeIf(isOther);
        now.keySet().removeIf(isOther);
        return changes(old, now);
    }

    private static Set<String> places(Map<String, String> settings) {
        return settings.keySet().stream().map(ConfigDiff::place).collect(Collectors.toSet());
    }

    /** Returns what a setting belongs to, such as "target iqn.2026-11.org.example:disk: lun 0". */
    private static String place(String setting) {
        int end = setting.lastIndexOf(": ");
        return end < 0 ? "" : setting.substring(0, end);
    }

    private static List<String> changes(Map<String, String> old, Map<String, String> now) {
        var lines = new ArrayList<String>();
        now.forEach((setting, value) -> {
            String was = old.get(setting);
            if (was == null && !isUnset(setting, value)) {
                lines.add("set " + setting + " to " + value + note(setting));
            } else if (was != null && !was.equals(value)) {
                lines.add("changed " + setting + " from " + was + " to " + value
                        + note(setting));
            }
        });
        old.forEach((setting, value) -> {
            if (!now.containsKey(setting) && !isUnset(setting, value)) {
                lines.add("removed " + setting + ", which was " + value + note(setting));
            }
        });
        return lines;
    }

    /** Adds to the lines of devices that become smaller that a server refuses it. */
    private static void noteShrunk(List<String> lines, List<ServedUnit> before,
            List<ServedUnit> after) {
        Map<String, ServedUnit> old = ChangeReport.byPlace(before);
        ChangeReport.byPlace(after).forEach((place, lun) -> {
            ServedUnit then = old.get(place);
            if (then != null && then.sizeBytes() > lun.sizeBytes()) {
                String line = ChangeReport.resized(then, lun);
                lines.replaceAll(one -> one.equals(line)
                        ? one + "; refused: a device cannot be shrunk while it is served"
                        : one);
            }
        });
    }

    private static boolean isUnset(String setting, String value) {
        return value.equals("false") && FLAG.matcher(setting).matches();
    }

    private static String note(String setting) {
        if (setting.startsWith("volume ")) {
            return "; takes effect when the volume is started";
        }
        return NEXT_START.contains(setting) ? "; takes effect at the next start" : "";
    }

    private static List<ServedUnit> units(ConfigFile file) {
        return file.targets().stream().flatMap(target -> target.luns().entrySet().stream().map(
                lun -> ServedUnit.planned(target.iqn(), lun.getKey(), lun.getValue().uri())))
                .toList();
    }

    private static List<String> portals(ConfigFile file) {
        return file.listens().stream().map(portal -> {
            var place = new Portal(portal.host(), portal.port()).toString();
            return portal.transport().equals(Transports.ISCSI)
                    ? place
                    : portal.transport() + "://" + place;
        }).toList();
    }

    // --- settings ---

    /** Returns the values of a tree by names such as "target iqn.2026-11.org.example:disk: alias". */
    private static Map<String, String> flat(Map<String, Object> tree) {
        var settings = new LinkedHashMap<String, String>();
        addAll(settings, "", tree);
        return settings;
    }

    private static void addAll(Map<String, String> settings, String prefix, Map<?, ?> table) {
        table.forEach((name, value) -> {
            String key = String.valueOf(name);
            if (key.equals(URI)) {
                return;
            }
            if (value instanceof List<?> list && NAMES.containsKey(key)) {
                for (Object each : list) {
                    if (each instanceof Map<?, ?> element) { // a text is an address, reported as such
                        addElement(settings, prefix, key, element);
                    }
                }
            } else if (SINGLE_TABLES.contains(key) && value instanceof Map<?, ?> single) {
                addAll(settings, prefix + key + ": ", single);
            } else {
                settings.put(prefix + key, text(value));
            }
        });
    }

    private static void addElement(Map<String, String> settings, String prefix, String key,
            Map<?, ?> element) {
        String id = NAMES.getOrDefault(key, "");
        String title = prefix + TITLES.getOrDefault(key, key) + " " + element.get(id);
        var rest = new LinkedHashMap<Object, Object>(element);
        rest.remove(id);
        addAll(settings, title + ": ", rest);
    }

    private static String text(Object value) {
        return switch (value) {
            case String text -> "\"" + text + "\"";
            case List<?> list -> list.stream().map(ConfigDiff::text)
                    .collect(Collectors.joining(", ", "[", "]"));
            case Map<?, ?> map -> map.entrySet().stream()
                    .map(entry -> entry.getKey() + " = " + text(entry.getValue()))
                    .collect(Collectors.joining(", ", "{ ", " }"));
            default -> value.toString();
        };
    }
}
