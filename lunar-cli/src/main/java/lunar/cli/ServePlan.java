package lunar.cli;

import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import lunar.iscsi.ChapAlgorithm;
import lunar.iscsi.TargetAddress;
import lunar.isns.IsnsServer;
import lunar.scsi.TargetPortGroups;
import lunar.target.Absence;
import lunar.target.PortalSpec;
import lunar.target.ServerLimits;
import lunar.target.SessionLimits;
import lunar.target.TargetServer;

/**
 * Plan of {@code serve}, from the command line or from a config file. Immutable.
 *
 * @param portals where to listen
 * @param targets what to serve
 * @param allowAnonymous whether a portal that others can reach may do without CHAP
 * @param headerDigest HeaderDigest
 * @param dataDigest DataDigest
 * @param state directory where reservations and saved mode pages are kept
 * @param isns iSNS server where the targets are registered
 * @param discoveryChap {@code USER:@FILE} of discovery; empty for every user that may log in to a target
 * @param chapAlgorithms what discovery accepts
 * @param limits how many sessions and connections there may be
 * @param volumes knows volumes by their short URIs
 * @param announceResets whether a unit tells a new session first that it was reset
 */
record ServePlan(List<Listen> portals, List<Target> targets, boolean allowAnonymous,
        Digest headerDigest, Digest dataDigest, Optional<Path> state,
        Optional<IsnsServer> isns, Optional<String> discoveryChap,
        List<ChapAlgorithm> chapAlgorithms, Limits limits, VolumeUris volumes,
        boolean announceResets) {
    /** The portal group of portals that are given none. */
    static final int DEFAULT_GROUP = PortalSpec.DEFAULT_GROUP;

    /**
     * How much of the server there is for how many.
     *
     * @param sessions sessions
     * @param connections TCP connections at once
     * @param connectionsPerAddress those of one address
     * @param connectionsPerSession connections that a session may have
     * @param loops threads that serve connections, each its share of them
     */
    record Limits(SessionLimits sessions, int connections, int connectionsPerAddress,
            int connectionsPerSession, int loops) {
        static final Limits DEFAULT = new Limits(SessionLimits.DEFAULT,
                ServerLimits.DEFAULT.maxConnections(),
                ServerLimits.DEFAULT.maxConnectionsPerAddress(),
                TargetServer.DEFAULT_OFFER.maxConnections(), TargetServer.DEFAULT_LOOPS);

        Limits withLoops(int count) {
            return new Limits(sessions, connections, connectionsPerAddress, connectionsPerSession,
                    count);
        }
    }

    /**
     * A portal.
     *
     * @param portal where to listen
     * @param group tag of its portal group
     * @param advertised where initiators reach it, if not where it listens
     * @param moved where it sends initiators
     */
    record Listen(Portal portal, int group, Optional<TargetAddress> advertised,
            Optional<Absence.Moved> moved) {
        /** A portal of the default group. */
        static Listen on(Portal portal) {
            return new Listen(portal, DEFAULT_GROUP, Optional.empty(), Optional.empty());
        }
    }

    /**
     * A logical unit.
     *
     * @param uri its device
     * @param removable whether the medium can be ejected
     * @param rotational whether it tells of a medium that turns
     * @param readOnly whether initiators may not write
     * @param thick whether it hides that blocks can be deallocated
     */
    record Lun(String uri, boolean removable, boolean rotational, boolean readOnly,
            boolean thick) {
        /** A fixed solid-state disk. */
        static Lun of(String uri) {
            return new Lun(uri, false, false, false, false);
        }
    }

    /**
     * Initiator that may use a target, and how.
     *
     * @param name iSCSI name, or {@code *} for every initiator
     * @param chap {@code USER:@FILE} of this initiator; empty for that of the target
     * @param mutualChap {@code USER:@FILE} of the target towards it
     * @param luns the target's LUN for each of its own; empty for all as they are
     * @param readOnly whether it may not write
     */
    record Initiator(String name, Optional<String> chap, Optional<String> mutualChap,
            Optional<SortedMap<Integer, Integer>> luns, boolean readOnly) {}

    /**
     * A target.
     *
     * @param iqn its name
     * @param alias a name for people, may be empty
     * @param luns logical units by LUN
     * @param chap {@code USER:@FILE} of the initiator
     * @param mutualChap {@code USER:@FILE} of the target
     * @param chapAlgorithms what it accepts
     * @param groups tags of its portal groups; empty for all
     * @param initiators those that may use it; empty for all
     * @param absence why no initiator can log in
     * @param access asymmetric access states of its portal groups
     */
    record Target(String iqn, String alias, SortedMap<Integer, Lun> luns, Optional<String> chap,
            Optional<String> mutualChap, List<ChapAlgorithm> chapAlgorithms, Set<Integer> groups,
            List<Initiator> initiators, Optional<Absence> absence,
            Map<Integer, TargetPortGroups.State> access) {
        Target {
            luns = Collections.unmodifiableSortedMap(new TreeMap<>(luns));
            chapAlgorithms = List.copyOf(chapAlgorithms);
            groups = Set.copyOf(groups);
            initiators = List.copyOf(initiators);
            access = Map.copyOf(access);
        }

        /** A target on all portals, open to everybody. */
        static Target of(String iqn, SortedMap<Integer, Lun> luns) {
            return new Target(iqn, "", luns, Optional.empty(), Optional.empty(),
                    ChapAlgorithm.DEFAULT_ORDER, Set.of(), List.of(), Optional.empty(),
                    Map.of());
        }

        /** A target with these devices as LUN 0, 1, and so on. */
        static Target of(String iqn, List<String> uris) {
            var luns = new TreeMap<Integer, Lun>();
            uris.forEach(uri -> luns.put(luns.size(), Lun.of(uri)));
            return of(iqn, luns);
        }

        Target withChap(Optional<String> user, Optional<String> mutual) {
            return new Target(iqn, alias, luns, user, mutual, chapAlgorithms, groups, initiators,
                    absence, access);
        }

        Target withChapAlgorithms(List<ChapAlgorithm> accepted) {
            return new Target(iqn, alias, luns, chap, mutualChap, accepted, groups, initiators,
                    absence, access);
        }

        /** Returns a copy that only these initiator names may use; an empty list admits all. */
        Target withInitiators(List<String> names) {
            return new Target(iqn, alias, luns, chap, mutualChap, chapAlgorithms, groups,
                    names.stream().map(name -> new Initiator(name, Optional.empty(),
                            Optional.empty(), Optional.empty(), false)).toList(),
                    absence, access);
        }

        Target withAlias(String text) {
            return new Target(iqn, text, luns, chap, mutualChap, chapAlgorithms, groups,
                    initiators, absence, access);
        }

        /** Whether an initiator may use it without proof: a name alone is no proof. */
        boolean isOpen() {
            return chap.isEmpty() && (initiators.isEmpty()
                    || initiators.stream().anyMatch(one -> one.chap().isEmpty()));
        }
    }

    /** A plan with units that tell new sessions of a reset. */
    ServePlan(List<Listen> portals, List<Target> targets, boolean allowAnonymous,
            Digest headerDigest, Digest dataDigest, Optional<Path> state,
            Optional<IsnsServer> isns, Optional<String> discoveryChap,
            List<ChapAlgorithm> chapAlgorithms, Limits limits, VolumeUris volumes) {
        this(portals, targets, allowAnonymous, headerDigest, dataDigest, state, isns,
                discoveryChap, chapAlgorithms, limits, volumes, true);
    }

    /** A plan with the volumes of this directory. */
    ServePlan(List<Listen> portals, List<Target> targets, boolean allowAnonymous,
            Digest headerDigest, Digest dataDigest, Optional<Path> state,
            Optional<IsnsServer> isns, Optional<String> discoveryChap,
            List<ChapAlgorithm> chapAlgorithms, Limits limits) {
        this(portals, targets, allowAnonymous, headerDigest, dataDigest, state, isns,
                discoveryChap, chapAlgorithms, limits, VolumeUris.usual());
    }

    /** Returns this plan, with units that tell new sessions of a reset, or do not. */
    ServePlan withAnnounceResets(boolean value) {
        return new ServePlan(portals, targets, allowAnonymous, headerDigest, dataDigest, state,
                isns, discoveryChap, chapAlgorithms, limits, volumes, value);
    }

    ServePlan {
        portals = List.copyOf(portals);
        targets = List.copyOf(targets);
        chapAlgorithms = List.copyOf(chapAlgorithms);
    }
}
