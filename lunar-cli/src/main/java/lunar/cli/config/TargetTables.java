package lunar.cli.config;

import lunar.cli.command.Failure;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import lunar.iscsi.login.ChapAlgorithm;
import lunar.scsi.primary.TargetPortGroups.State;
import lunar.server.ServerPlan;
import lunar.target.Absence;

/** Reads the targets of a config file: each {@code [[target]]} with its {@code [[target.initiator]]}s. */
public final class TargetTables {
    /** Name of a target that is given none. */
    public static final String DEFAULT_IQN = "iqn.2026-11.org.lunar:disk";

    static final String CHAP_ALGORITHMS = "chap-algorithms";

    private static final Set<String> TARGET_KEYS = Set.of("iqn", "alias", "luns", "chap",
            "mutual-chap", CHAP_ALGORITHMS, "groups", "access", "moved", "maintenance", "removed",
            "initiator");
    private static final Set<String> LUN_KEYS = Set.of("lun", "uri", "removable", "rotational",
            "read-only", "thick");
    private static final Set<String> INITIATOR_KEYS = Set.of("name", "chap", "mutual-chap", "luns",
            "read-only");
    private static final Map<String, State> STATES = Map.of("optimized", State.ACTIVE_OPTIMIZED,
            "non-optimized", State.ACTIVE_NON_OPTIMIZED, "standby", State.STANDBY, "unavailable",
            State.UNAVAILABLE);
    private static final int MAX_LUN = 16383;
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
    ServerPlan.Target atTop(TomlTable root) throws Failure {
        return ServerPlan.Target
                .of(root.text("iqn").orElse(DEFAULT_IQN), luns(root))
                .withChap(chap, mutualChap).withChapAlgorithms(chapAlgorithms);
    }

    ServerPlan.Target read(TomlTable table) throws Failure {
        table.requireKnown(TARGET_KEYS, " of a target");
        String iqn = table.text("iqn")
                .orElseThrow(() -> table.wrong("a target has no 'iqn'; give it a name"));
        TomlTable target = table.named("target " + iqn);
        SortedMap<Integer, ServerPlan.Lun> luns = luns(target);
        Optional<Absence> absence = absence(target);
        if (luns.isEmpty() && absence.isEmpty()) {
            throw target.wrong("it has no 'luns'; name its devices");
        }
        Optional<String> own = target.text("chap");
        return new ServerPlan.Target(iqn, target.text("alias").orElse(""), luns, own.or(() -> chap),
                target.text("mutual-chap")
                        .or(() -> own.isPresent() ? Optional.empty() : mutualChap),
                chapAlgorithms(target).orElse(chapAlgorithms), groups(target),
                initiators(target, luns.keySet()), absence, access(target));
    }

    /** The list of CHAP algorithms, if a table has one. */
    static Optional<List<ChapAlgorithm>> chapAlgorithms(TomlTable table) throws Failure {
        if (!table.has(CHAP_ALGORITHMS)) {
            return Optional.empty();
        }
        List<String> names = table.list(CHAP_ALGORITHMS, "sha-256", name -> name, one -> {
            throw table.wrong("'" + CHAP_ALGORITHMS + "' must be a list of strings, as in "
                    + CHAP_ALGORITHMS + " = [\"sha-256\"]");
        });
        return Optional.of(table.parse(CHAP_ALGORITHMS, String.join(",", names),
                ChapAlgorithm::parse));
    }

    // --- logical units ---

    private static SortedMap<Integer, ServerPlan.Lun> luns(TomlTable table) throws Failure {
        var luns = new TreeMap<Integer, ServerPlan.Lun>();
        List<Numbered> all = table.list("luns", "ram:1GiB", uri -> new Numbered(
                Optional.empty(), ServerPlan.Lun.of(uri)), TargetTables::lun);
        int next = 0;
        for (Numbered each : all) {
            int number = each.number().orElse(next);
            if (luns.put(number, each.lun()) != null) {
                throw table.wrong("LUN " + number + " is configured twice in 'luns'");
            }
            next = number + 1;
        }
        if (next > MAX_LUN + 1) {
            throw table.wrong("'luns' exceeds LUN " + MAX_LUN);
        }
        return luns;
    }

    /** A logical unit and its explicit number; without one, it follows the previous unit. */
    private record Numbered(Optional<Integer> number, ServerPlan.Lun lun) {}

    private static Numbered lun(TomlTable table) throws Failure {
        table.requireKnown(LUN_KEYS, " of a LUN");
        var number = table.number("lun", 0, MAX_LUN);
        String uri = table.text("uri")
                .orElseThrow(() -> table.wrong("a LUN has no 'uri'; name its device"));
        return new Numbered(number.isPresent() ? Optional.of(number.getAsInt()) : Optional.empty(),
                new ServerPlan.Lun(uri, table.flag("removable"), table.flag("rotational"),
                        table.flag("read-only"), table.flag("thick")));
    }

    // --- where, and in which state ---

    private Set<Integer> groups(TomlTable target) throws Failure {
        Optional<List<Integer>> tags = target.numbers("groups", 1, MAX_TAG);
        if (tags.isPresent() && tags.get().isEmpty()) {
            throw target.wrong("'groups' is empty; leave it out to use all portal groups");
        }
        for (int tag : tags.orElse(List.of())) {
            requireGroup(target, "groups", tag);
        }
        return Set.copyOf(tags.orElse(List.of()));
    }

    private void requireGroup(TomlTable target, String key, int tag) throws Failure {
        if (!groups.contains(tag)) {
            throw target.wrong("'" + key + "' names portal group " + tag
                    + ", which does not exist; add a [[portal-group]] with tag = " + tag);
        }
    }

    private Map<Integer, State> access(TomlTable target) throws Failure {
        var states = new TreeMap<Integer, State>();
        Optional<TomlTable> table = target.table("access");
        if (table.isPresent()) {
            for (String key : table.get().keys()) {
                int tag = numberOf(target, "access", key, MAX_TAG);
                requireGroup(target, "access", tag);
                states.put(tag, table.get().parsed(key, TargetTables::state).orElseThrow());
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

    private static Optional<Absence> absence(TomlTable target) throws Failure {
        var why = new ArrayList<Absence>();
        PortalTables.moved(target).ifPresent(why::add);
        if (target.flag("maintenance")) {
            why.add(new Absence.Maintenance());
        }
        if (target.flag("removed")) {
            why.add(new Absence.Removed());
        }
        if (why.size() > 1) {
            throw target.wrong("only one of 'moved', 'maintenance' and 'removed' can be true");
        }
        return why.stream().findFirst();
    }

    // --- initiators ---

    private static List<ServerPlan.Initiator> initiators(TomlTable target, Set<Integer> luns)
            throws Failure {
        var initiators = new ArrayList<ServerPlan.Initiator>();
        var names = new HashSet<String>();
        for (TomlTable table : target.tables("initiator")) {
            table.requireKnown(INITIATOR_KEYS, " of an initiator");
            String name = table.text("name").orElseThrow(() -> table.wrong(
                    "an initiator has no 'name'; write its iqn, or \"*\" for all initiators"));
            if (!names.add(name.toLowerCase(Locale.ROOT))) {
                throw table.wrong("initiator " + name + " is configured twice");
            }
            initiators.add(new ServerPlan.Initiator(name, table.text("chap"),
                    table.text("mutual-chap"), map(table, name, luns), table.flag("read-only")));
        }
        return initiators;
    }

    /** Reads an initiator's view: a list of LUNs, or the target's LUN for each of its own. */
    private static Optional<SortedMap<Integer, Integer>> map(TomlTable table, String name,
            Set<Integer> luns) throws Failure {
        var map = new TreeMap<Integer, Integer>();
        if (table.isTable("luns")) {
            TomlTable mapped = table.table("luns").orElseThrow();
            for (String own : mapped.keys()) {
                map.put(numberOf(table, "luns", own, MAX_LUN),
                        mapped.number(own, 0, MAX_LUN).orElseThrow());
            }
        } else {
            Optional<List<Integer>> list = table.numbers("luns", 0, MAX_LUN);
            if (list.isEmpty()) {
                return Optional.empty();
            }
            list.get().forEach(lun -> map.put(lun, lun));
        }
        for (int lun : map.values()) {
            if (!luns.contains(lun)) {
                throw table.wrong("initiator " + name + ": 'luns' names LUN " + lun
                        + ", which the target does not have");
            }
        }
        return Optional.of(map);
    }

    private static int numberOf(TomlTable table, String key, String text, int max) throws Failure {
        if (!text.matches("\\d{1,5}") || Integer.parseInt(text) > max) {
            throw table.wrong("'" + key + "' has the key '" + text
                    + "', which is not a number up to " + max);
        }
        return Integer.parseInt(text);
    }
}
