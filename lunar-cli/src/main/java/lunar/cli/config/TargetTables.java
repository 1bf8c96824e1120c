package lunar.cli.config;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import lunar.block.DeviceUri;
import lunar.block.Devices;
import lunar.iscsi.login.ChapAlgorithm;
import lunar.scsi.primary.TargetPortGroups.State;
import lunar.server.ServerPlan;
import lunar.target.Absence;
import lunar.target.IoLimit;
import lunar.target.TargetSpec;

/** Reads the targets of a config file: each {@code [[target]]} with its {@code [[target.initiator]]}s. */
public final class TargetTables {
    /** Name of a target that is given none. */
    public static final String DEFAULT_IQN = "iqn.2026-11.org.lunar:disk";

    static final String CHAP_ALGORITHMS = "chap-algorithms";

    static final Set<String> TARGET_KEYS = Set.of("iqn", "alias", "luns", "chap",
            "mutual-chap", CHAP_ALGORITHMS, "groups", "access", "moved", "maintenance", "removed",
            "initiator");
    static final Set<String> LUN_KEYS = Set.of("lun", "uri", "removable", "rotational",
            "read-only", "thick", "limit");
    static final Set<String> INITIATOR_KEYS = Set.of("name", "chap", "mutual-chap", "luns",
            "read-only", "limit");
    static final Map<String, State> STATES = Map.of("optimized", State.ACTIVE_OPTIMIZED,
            "non-optimized", State.ACTIVE_NON_OPTIMIZED, "standby", State.STANDBY, "unavailable",
            State.UNAVAILABLE);
    private static final int MAX_TAG = 0xffff;

    private final Optional<String> chap;
    private final Optional<String> mutualChap;
    private final List<ChapAlgorithm> chapAlgorithms;
    private final Set<Integer> groups;

    /**
     * @param chap CHAP credentials of targets without their own
     * @param chapAlgorithms CHAP algorithms of targets without their own
     * @param groups tags of the configured portal groups
     */
    TargetTables(Optional<String> chap, Optional<String> mutualChap,
            List<ChapAlgorithm> chapAlgorithms, Set<Integer> groups) {
        this.chap = chap;
        this.mutualChap = mutualChap;
        this.chapAlgorithms = chapAlgorithms;
        this.groups = Set.copyOf(groups);
    }

    /** The target of the {@code luns} at the top. */
    ServerPlan.Target atTop(TomlTable root) {
        return ServerPlan.Target
                .of(root.text("iqn").orElse(DEFAULT_IQN), luns(root))
                .withChap(chap, mutualChap).withChapAlgorithms(chapAlgorithms);
    }

    /** Reads a target; empty if it has no name. */
    Optional<ServerPlan.Target> read(TomlTable table) {
        Optional<String> name = table.required("iqn", TARGET_KEYS,
                "a target has no 'iqn'; give it a name");
        TomlTable target = name.isEmpty() ? table : table.named("target " + name.get());
        target.requireKnown(TARGET_KEYS, " of a target");
        SortedMap<Integer, ServerPlan.Lun> luns = luns(target);
        Optional<Absence> absence = absence(target);
        if (absence.isEmpty() && !target.has("moved")
                && (target.lacks("luns", TARGET_KEYS) || target.isEmptyList("luns"))) {
            target.wrong("it has no 'luns'; name its devices");
        }
        Optional<String> own = target.credentials("chap");
        var read = new ServerPlan.Target(name.orElse(""), target.text("alias").orElse(""), luns,
                own.or(() -> chap),
                target.credentials("mutual-chap")
                        .or(() -> own.isPresent() ? Optional.empty() : mutualChap),
                chapAlgorithms(target).orElse(chapAlgorithms), groups(target),
                initiators(target, luns.keySet()), absence, access(target));
        return name.map(_ -> read);
    }

    /** The list of CHAP algorithms, if a table has one. */
    static Optional<List<ChapAlgorithm>> chapAlgorithms(TomlTable table) {
        if (!table.has(CHAP_ALGORITHMS)) {
            return Optional.empty();
        }
        List<String> names = table.texts(CHAP_ALGORITHMS, "sha-256").stream()
                .map(TomlTable.Text::value).toList();
        return names.isEmpty() && !table.isEmptyList(CHAP_ALGORITHMS)
                ? Optional.empty() // reported already
                : table.parse(CHAP_ALGORITHMS,
                        new TomlTable.Text(String.join(",", names), table.place(CHAP_ALGORITHMS)),
                        ChapAlgorithm::parse);
    }

    // --- logical units ---

    /**
     * A logical unit of a table.
     *
     * @param place where its device is configured
     * @param number its LUN: without an explicit number, the one after that of the previous unit
     */
    record Numbered(Place place, int number, ServerPlan.Lun lun) {}

    /** The logical units of a table, in its order, also those with the number of another. */
    static List<Numbered> numbered(TomlTable table) {
        List<Listed> all = table.list("luns", "ram:1GiB",
                uri -> {
                    requireText(table, uri.place(), uri.value());
                    return Optional.of(new Listed(uri.place(), OptionalInt.empty(),
                            ServerPlan.Lun.of(uri.value())));
                },
                TargetTables::lun);
        var luns = new ArrayList<Numbered>();
        int next = 0;
        for (Listed each : all) {
            int number = each.number().orElse(next);
            luns.add(new Numbered(each.place(), number, each.lun()));
            next = number + 1;
        }
        return luns;
    }

    private static SortedMap<Integer, ServerPlan.Lun> luns(TomlTable table) {
        var luns = new TreeMap<Integer, ServerPlan.Lun>();
        for (Numbered each : numbered(table)) {
            if (luns.put(each.number(), each.lun()) != null) {
                table.wrong(each.place(),
                        "LUN " + each.number() + " is configured twice in 'luns'");
            }
            requireUri(table, each);
            if (each.number() == TargetSpec.MAX_LUN + 1) {
                table.wrong(each.place(), "'luns' exceeds LUN " + TargetSpec.MAX_LUN);
            }
        }
        return luns;
    }

    private static void requireText(TomlTable table, Place place, String uri) {
        if (uri.isEmpty()) {
            table.wrong(place,
                    "'luns': an empty string names no device; write for example ram:1GiB");
        }
    }

    private static void requireUri(TomlTable table, Numbered unit) {
        if (unit.lun().uri().isEmpty()) {
            return; // reported already
        }
        try {
            DeviceUri _ = DeviceUri.parse(Devices.withoutFilters(unit.lun().uri()));
        } catch (IllegalArgumentException e) {
            table.wrong(unit.place(), "'luns': " + e.getMessage());
        }
    }

    /** An element of the list, with its explicit number if it has one. */
    private record Listed(Place place, OptionalInt number, ServerPlan.Lun lun) {}

    private static Optional<Listed> lun(TomlTable table) {
        table.requireKnown(LUN_KEYS, " of a LUN");
        OptionalInt number = table.number("lun", 0, TargetSpec.MAX_LUN);
        Optional<String> uri = table.required("uri", LUN_KEYS,
                "a LUN has no 'uri'; name its device");
        uri.ifPresent(text -> requireText(table, table.place("uri"), text));
        var lun = new ServerPlan.Lun(uri.orElse(""), table.flag("removable"),
                table.flag("rotational"), table.flag("read-only"), table.flag("thick"),
                table.parsed("limit", IoLimit::parse));
        return Optional.of(new Listed(table.has("uri") ? table.place("uri") : table.place(), number,
                lun));
    }

    // --- where, and in which state ---

    private Set<Integer> groups(TomlTable target) {
        Optional<List<Integer>> tags = target.numbers("groups", 1, MAX_TAG);
        if (tags.isPresent() && tags.get().isEmpty()) {
            target.wrong("groups", "'groups' is empty; leave it out to use all portal groups");
        }
        for (int tag : tags.orElse(List.of())) {
            requireGroup(target, "groups", target.place("groups"), tag);
        }
        return Set.copyOf(tags.orElse(List.of()));
    }

    private void requireGroup(TomlTable target, String key, Place place, int tag) {
        if (!groups.contains(tag)) {
            target.wrong(place, "'" + key + "' names portal group " + tag
                    + ", which does not exist; add a [[portal-group]] with tag = " + tag);
        }
    }

    private Map<Integer, State> access(TomlTable target) {
        var states = new TreeMap<Integer, State>();
        Optional<TomlTable> table = target.table("access");
        if (table.isPresent()) {
            for (String key : table.get().keys()) {
                OptionalInt tag = numberOf(table.get(), "access", key, MAX_TAG);
                Optional<State> state = table.get().named("'access'").parsed(key,
                        TargetTables::state);
                if (tag.isPresent()) {
                    requireGroup(target, "access", table.get().place(key), tag.getAsInt());
                    state.ifPresent(is -> states.put(tag.getAsInt(), is));
                }
            }
        }
        return states;
    }

    private static State state(String text) {
        State state = STATES.get(text);
        if (state == null) {
            throw new IllegalArgumentException("'" + text
                    + "' is not one of optimized, non-optimized, standby, unavailable");
        }
        return state;
    }

    /** The word of a state in config files. */
    static String word(State state) {
        return STATES.entrySet().stream().filter(one -> one.getValue() == state)
                .map(Map.Entry::getKey).findFirst().orElseThrow();
    }

    private static Optional<Absence> absence(TomlTable target) {
        var why = new ArrayList<Absence>();
        PortalTables.moved(target).ifPresent(why::add);
        if (target.flag("maintenance")) {
            why.add(new Absence.Maintenance());
        }
        if (target.flag("removed")) {
            why.add(new Absence.Removed());
        }
        if (why.size() > 1) {
            target.wrong("only one of 'moved', 'maintenance' and 'removed' can be true");
        }
        return why.stream().findFirst();
    }

    // --- initiators ---

    private static List<ServerPlan.Initiator> initiators(TomlTable target, Set<Integer> luns) {
        var initiators = new ArrayList<ServerPlan.Initiator>();
        var names = new HashSet<String>();
        for (TomlTable table : target.tables("initiator")) {
            Optional<String> name = table.required("name", INITIATOR_KEYS,
                    "an initiator has no 'name'; write its iqn, or \"*\" for all initiators");
            TomlTable initiator = name.isEmpty() ? table : table.named("initiator " + name.get());
            initiator.requireKnown(INITIATOR_KEYS, " of an initiator");
            if (name.isPresent() && !names.add(name.get().toLowerCase(Locale.ROOT))) {
                table.wrong("name", "initiator " + name.get() + " is configured twice");
            }
            initiators.add(new ServerPlan.Initiator(name.orElse(""), initiator.credentials("chap"),
                    initiator.credentials("mutual-chap"), map(initiator, luns),
                    initiator.flag("read-only"), initiator.parsed("limit", IoLimit::parse)));
        }
        return initiators;
    }

    /** Reads an initiator's view: a list of LUNs, or the target's LUN for each of its own. */
    private static Optional<SortedMap<Integer, Integer>> map(TomlTable table, Set<Integer> luns) {
        var map = new TreeMap<Integer, Integer>();
        if (table.isTable("luns")) {
            TomlTable mapped = table.table("luns").orElseThrow();
            for (String own : mapped.keys()) {
                OptionalInt number = numberOf(mapped, "luns", own, TargetSpec.MAX_LUN);
                OptionalInt lun = mapped.named("'luns'").number(own, 0, TargetSpec.MAX_LUN);
                if (number.isPresent() && lun.isPresent()) {
                    map.put(number.getAsInt(), lun.getAsInt());
                }
            }
        } else {
            Optional<List<Integer>> list = table.numbers("luns", 0, TargetSpec.MAX_LUN);
            if (list.isEmpty()) {
                return Optional.empty();
            }
            list.get().forEach(lun -> map.put(lun, lun));
        }
        for (int lun : map.values()) {
            if (!luns.contains(lun)) {
                table.wrong("luns", "'luns' names LUN " + lun
                        + ", which the target does not have");
            }
        }
        return Optional.of(map);
    }

    /** Reads a number that is a key of a table. */
    private static OptionalInt numberOf(TomlTable table, String name, String key, int max) {
        if (!key.matches("\\d{1,5}") || Integer.parseInt(key) > max) {
            table.wrong(key, "'" + name + "' has the key '" + key
                    + "', which is not a number up to " + max);
            return OptionalInt.empty();
        }
        return OptionalInt.of(Integer.parseInt(key));
    }
}
