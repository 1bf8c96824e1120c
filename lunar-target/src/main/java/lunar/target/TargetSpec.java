package lunar.target;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import lunar.block.BlockDevice;
import lunar.iscsi.login.ChapPolicy;
import lunar.scsi.primary.TargetPortGroups;
import lunar.scsi.target.UnitKey;
import lunar.scsi.target.UnitSpec;
import lunar.scsi.target.block.DiskSpec;

/**
 * Describes a target node: its name, its LUNs, access control and authentication. Immutable.
 *
 * @param name iSCSI name, for example {@code iqn.2026-11.org.example:disk} (RFC 7143 section 4.2.7)
 * @param alias TargetAlias, for display; may be empty
 * @param luns logical units by LUN, 0 to 16383
 * @param chap CHAP of initiators without CHAP of their own; empty for no authentication
 * @param groups tags of the portal groups through which it can be reached; empty for all groups of the server
 * @param initiators initiators with access, each name once; empty for all
 * @param absence why initiators cannot log in now; empty if they can
 * @param limits limits on the commands of all initiators together to a unit, by unit: a device at several LUNs has one
 *        limit; several targets with the same device should give it the same one
 * @param states asymmetric access states (SPC-5 section 5.18) of portal groups that are not active/optimized
 */
public record TargetSpec(String name, String alias, SortedMap<Integer, UnitSpec> luns,
        Optional<ChapPolicy> chap, Set<Integer> groups, List<InitiatorSpec> initiators,
        Optional<Absence> absence, Map<UnitKey, IoLimit> limits,
        Map<Integer, TargetPortGroups.State> states) {
    /** The largest LUN of a target. */
    public static final int MAX_LUN = 16383;

    private static final int MAX_NAME_BYTES = 223;

    public TargetSpec {
        name = InitiatorSpec.normal(name); // the hexadecimal digits of eui. and naa. names may be capitals
        if (!isName(name)) {
            throw new IllegalArgumentException("'" + name
                    + "' is not an iSCSI name; write for example iqn.2026-11.org.example:disk, in lower case");
        }
        requireLuns(luns.keySet());
        luns = Collections.unmodifiableSortedMap(new TreeMap<>(luns));
        groups = Set.copyOf(groups);
        initiators = List.copyOf(initiators);
        limits = Map.copyOf(limits);
        states = Map.copyOf(states);
        requireStates(name, states);
        Set<UnitKey> units = luns.values().stream().map(UnitSpec::unitKey)
                .collect(Collectors.toSet());
        if (!units.containsAll(limits.keySet())) {
            throw new IllegalArgumentException(
                    "a unit has a limit that is not a LUN of " + name);
        }
        var names = new HashSet<String>();
        for (InitiatorSpec initiator : initiators) {
            if (!names.add(initiator.name())) {
                throw new IllegalArgumentException(
                        "initiator " + initiator.name() + " is configured twice for target "
                                + name);
            }
            for (int lun : initiator.luns().orElseGet(TreeMap::new).values()) {
                if (!luns.containsKey(lun)) {
                    throw new IllegalArgumentException("initiator " + initiator.name()
                            + " is mapped to LUN " + lun + " of " + name
                            + ", which does not exist");
                }
            }
        }
    }

    /** Returns a target without LUNs, open to every initiator, on all portals. */
    public static TargetSpec of(String name) {
        return new TargetSpec(name, "", new TreeMap<>(Map.of()), Optional.empty(), Set.of(),
                List.of(), Optional.empty(), Map.of(), Map.of());
    }

    /** Returns a copy with an alias for display. */
    public TargetSpec withAlias(String text) {
        return new TargetSpec(name, text, luns, chap, groups, initiators, absence, limits,
                states);
    }

    /** Returns a copy with one more LUN: a fixed disk. The caller closes the device after the server. */
    public TargetSpec withLun(int lun, BlockDevice device) {
        return withLun(lun, DiskSpec.of(device));
    }

    /** Returns a copy with one more LUN. A device at several LUNs is one unit, as its first LUN describes it. */
    public TargetSpec withLun(int lun, UnitSpec unit) {
        var more = new TreeMap<>(luns);
        if (more.put(lun, unit) != null) {
            throw new IllegalArgumentException(
                    "LUN " + lun + " of " + name + " is configured twice");
        }
        return new TargetSpec(name, alias, more, chap, groups, initiators, absence, limits,
                states);
    }

    /** Returns a copy without a LUN. */
    public TargetSpec withoutLun(int lun) {
        var less = new TreeMap<>(luns);
        less.remove(lun);
        var fewer = new HashMap<>(limits);
        fewer.keySet().retainAll(
                less.values().stream().map(UnitSpec::unitKey).collect(Collectors.toSet()));
        return new TargetSpec(name, alias, less, chap, groups, initiators, absence, fewer,
                states);
    }

    /** Returns a copy with CHAP. */
    public TargetSpec withChap(ChapPolicy policy) {
        return new TargetSpec(name, alias, luns, Optional.of(policy), groups, initiators, absence,
                limits,
                states);
    }

    /** Returns a copy that can be reached in these portal groups only. */
    public TargetSpec withGroups(Collection<Integer> tags) {
        return new TargetSpec(name, alias, luns, chap, Set.copyOf(tags), initiators, absence,
                limits,
                states);
    }

    /** Returns a copy that also admits this initiator; initiators that have not been added are not admitted. */
    public TargetSpec withInitiator(InitiatorSpec initiator) {
        var more = new ArrayList<>(initiators);
        more.add(initiator);
        return new TargetSpec(name, alias, luns, chap, groups, more, absence, limits,
                states);
    }

    /** Returns a copy where no initiator can log in now. */
    public TargetSpec withAbsence(Absence why) {
        return new TargetSpec(name, alias, luns, chap, groups, initiators,
                Optional.of(why), limits, states);
    }

    /** Returns a copy where a portal group is in this asymmetric access state. */
    public TargetSpec withState(int group, TargetPortGroups.State state) {
        var more = new HashMap<>(states);
        more.put(group, state);
        return new TargetSpec(name, alias, luns, chap, groups, initiators, absence, limits,
                more);
    }

    /** Returns a copy with a limit on the commands to the unit at a LUN, at whatever LUNs else it is. */
    public TargetSpec withLimit(int lun, IoLimit limit) {
        UnitSpec unit = luns.get(lun);
        if (unit == null) {
            throw new IllegalArgumentException(
                    "LUN " + lun + " of " + name + " has a limit, but does not exist");
        }
        var more = new HashMap<>(limits);
        more.put(unit.unitKey(), limit);
        return new TargetSpec(name, alias, luns, chap, groups, initiators, absence, more,
                states);
    }

    private static void requireStates(String name, Map<Integer, TargetPortGroups.State> states) {
        states.forEach((group, state) -> {
            switch (state) {
                case ACTIVE_OPTIMIZED, ACTIVE_NON_OPTIMIZED, STANDBY, UNAVAILABLE,
                        TRANSITIONING -> {
                    // the states that an operator may choose
                }
                case LOGICAL_BLOCK_DEPENDENT, OFFLINE -> throw new IllegalArgumentException(
                        "portal group " + group + " of " + name + " cannot be " + state);
            }
        });
    }

    /** Returns how the initiator of a name authenticates; empty for no authentication. */
    public Optional<ChapPolicy> chap(String initiatorName) {
        return access(initiatorName).flatMap(InitiatorSpec::chap).or(() -> chap);
    }

    /**
     * Returns the access of an initiator; empty if it has no access.
     *
     * @param initiatorName as its login gives it, in lower case
     */
    public Optional<InitiatorSpec> access(String initiatorName) {
        if (initiators.isEmpty()) {
            return Optional.of(InitiatorSpec.of(InitiatorSpec.ANYBODY));
        }
        return initiators.stream().filter(one -> one.name().equals(initiatorName)).findFirst()
                .or(() -> initiators.stream()
                        .filter(one -> one.name().equals(InitiatorSpec.ANYBODY)).findFirst());
    }

    static boolean isName(String name) {
        return name.length() <= MAX_NAME_BYTES && name.matches(
                "(iqn\\.\\d{4}-\\d{2}\\.[a-z0-9.:-]+|eui\\.[0-9A-Fa-f]{16}|naa\\.[0-9A-Fa-f]{16,32})");
    }

    static void requireLuns(Collection<Integer> luns) {
        for (int lun : luns) {
            if (lun < 0 || lun > MAX_LUN) {
                throw new IllegalArgumentException("LUN must be 0 to " + MAX_LUN + ", not " + lun);
            }
        }
    }
}
