package lunar.server;

import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import lunar.block.DeviceUri;
import lunar.iscsi.login.ChapAlgorithm;
import lunar.iscsi.login.DigestChoice;
import lunar.iscsi.spi.LoopOptions;
import lunar.iscsi.spi.TlsFiles;
import lunar.iscsi.spi.Transports;
import lunar.iscsi.text.TargetAddress;
import lunar.isns.IsnsServer;
import lunar.scsi.primary.TargetPortGroups;
import lunar.target.Absence;
import lunar.target.IoLimit;
import lunar.target.PortalSpec;
import lunar.target.ServerLimits;
import lunar.target.SessionLimits;
import lunar.target.TargetServer;

/**
 * The configuration of a {@link StorageServer}: its portals, targets, access control and limits. Immutable.
 *
 * @param portals portals to listen on
 * @param targets targets to serve
 * @param allowAnonymous whether logins without CHAP are permitted on portals that other machines can reach
 * @param headerDigest HeaderDigest
 * @param dataDigest DataDigest
 * @param state directory for reservations and saved mode pages
 * @param isns iSNS server where the targets are registered
 * @param discoveryChap {@code USER:@FILE} of discovery; empty to accept every user of a target
 * @param chapAlgorithms algorithms that discovery accepts
 * @param limits limits of sessions and connections
 * @param opener opens the devices
 * @param announceResets whether a unit first reports a reset to a new session
 */
public record ServerPlan(List<Listen> portals, List<Target> targets, boolean allowAnonymous,
        DigestChoice headerDigest, DigestChoice dataDigest, Optional<Path> state,
        Optional<IsnsServer> isns, Optional<String> discoveryChap,
        List<ChapAlgorithm> chapAlgorithms, Limits limits, DeviceOpener opener,
        boolean announceResets) {
    /** The portal group of portals that are given none. */
    public static final int DEFAULT_GROUP = PortalSpec.DEFAULT_GROUP;

    /**
     * Limits of the server's resources.
     *
     * @param sessions limits of sessions
     * @param connections maximum number of connections
     * @param connectionsPerAddress maximum number of connections from one address
     * @param connectionsPerSession maximum number of connections of a session
     * @param loops number of threads that serve connections of each transport, how long they poll for events, and the
     *        RDMA device
     */
    public record Limits(SessionLimits sessions, int connections, int connectionsPerAddress,
            int connectionsPerSession, LoopOptions loops) {
        /** The limits of a server that is given none. */
        public static final Limits DEFAULT = new Limits(SessionLimits.DEFAULT,
                ServerLimits.DEFAULT.maxConnections(),
                ServerLimits.DEFAULT.maxConnectionsPerAddress(),
                TargetServer.DEFAULT_OFFER.maxConnections(),
                LoopOptions.of(TargetServer.DEFAULT_LOOPS));

        /** Returns a copy with other loops. */
        public Limits withLoops(LoopOptions value) {
            return new Limits(sessions, connections, connectionsPerAddress, connectionsPerSession,
                    value);
        }
    }

    /**
     * A portal.
     *
     * @param host name or address to listen on, resolved when the server starts, or when a reload adds the portal or
     *        changes its host or port
     * @param port 0 for a free one
     * @param group tag of its portal group
     * @param advertised where initiators reach it, if not where it listens
     * @param moved where it sends initiators
     * @param transport scheme of its transport: {@code iscsi} for TCP, {@code iscsis} for TLS, {@code iser} for RDMA
     * @param tls PEM files of a portal with TLS, read at each start and reload; no user but that of the server may
     *        write the key
     */
    public record Listen(String host, int port, int group, Optional<TargetAddress> advertised,
            Optional<Absence.Moved> moved, String transport, TlsFiles tls) {
        /** A portal without TLS. */
        public Listen(String host, int port, int group, Optional<TargetAddress> advertised,
                Optional<Absence.Moved> moved, String transport) {
            this(host, port, group, advertised, moved, transport, TlsFiles.NONE);
        }

        /** A portal of the default group, over TCP. */
        public static Listen on(String host, int port) {
            return new Listen(host, port, DEFAULT_GROUP, Optional.empty(), Optional.empty(),
                    Transports.ISCSI);
        }

        /** Returns a copy with the transport of another scheme. */
        public Listen withTransport(String scheme) {
            return new Listen(host, port, group, advertised, moved, scheme, tls);
        }

        /** Returns a copy with other files for TLS, which the transport {@code iscsis} uses. */
        public Listen withTls(TlsFiles files) {
            return new Listen(host, port, group, advertised, moved, transport, files);
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
     * @param limit limits the commands of all initiators to it together
     */
    public record Lun(String uri, boolean removable, boolean rotational, boolean readOnly,
            boolean thick, Optional<IoLimit> limit) {
        /** A fixed solid-state disk. */
        public static Lun of(String uri) {
            return new Lun(uri, false, false, false, false, Optional.empty());
        }

        /** Returns a copy with a limit on its commands. */
        public Lun withLimit(IoLimit value) {
            return new Lun(uri, removable, rotational, readOnly, thick, Optional.of(value));
        }

        /** Returns a copy with another device. */
        public Lun withUri(String other) {
            return new Lun(other, removable, rotational, readOnly, thick, limit);
        }

        /** Returns the device without the secret that its URI may hold. */
        @Override
        public String toString() { return DeviceUri.withoutSecret(uri); }
    }

    /**
     * Initiator that may use a target, and how.
     *
     * @param name iSCSI name, or {@code *} for every initiator
     * @param chap {@code USER:@FILE} of this initiator; empty for that of the target
     * @param mutualChap {@code USER:@FILE} of the target towards it
     * @param luns the target's LUN for each of its own; empty for all as they are
     * @param readOnly whether it may not write
     * @param limit limits the commands of each initiator of the name, to all LUNs together
     */
    public record Initiator(String name, Optional<String> chap, Optional<String> mutualChap,
            Optional<SortedMap<Integer, Integer>> luns, boolean readOnly,
            Optional<IoLimit> limit) {
        /** Makes the map unmodifiable. */
        public Initiator {
            luns = luns.map(map -> Collections.unmodifiableSortedMap(new TreeMap<>(map)));
        }

        /** Returns a copy that has no LUN for these ones of the target. */
        Initiator withoutLuns(Set<Integer> removed) {
            if (luns.isEmpty() || removed.isEmpty()) {
                return this;
            }
            var less = new TreeMap<>(luns.get());
            less.values().removeAll(removed);
            return new Initiator(name, chap, mutualChap, Optional.of(less), readOnly, limit);
        }
    }

    /**
     * A target.
     *
     * @param iqn its name
     * @param alias name for display, may be empty
     * @param luns logical units by LUN
     * @param chap {@code USER:@FILE} of the initiator
     * @param mutualChap {@code USER:@FILE} of the target
     * @param chapAlgorithms CHAP algorithms that it accepts
     * @param groups tags of its portal groups; empty for all
     * @param initiators initiators with access; empty for all
     * @param absence why no initiator can log in
     * @param access asymmetric access states of its portal groups
     */
    public record Target(String iqn, String alias, SortedMap<Integer, Lun> luns,
            Optional<String> chap,
            Optional<String> mutualChap, List<ChapAlgorithm> chapAlgorithms, Set<Integer> groups,
            List<Initiator> initiators, Optional<Absence> absence,
            Map<Integer, TargetPortGroups.State> access) {
        /** Makes the collections unmodifiable. */
        public Target {
            luns = Collections.unmodifiableSortedMap(new TreeMap<>(luns));
            chapAlgorithms = List.copyOf(chapAlgorithms);
            groups = Set.copyOf(groups);
            initiators = List.copyOf(initiators);
            access = Map.copyOf(access);
        }

        /** A target on all portals, open to everybody. */
        public static Target of(String iqn, SortedMap<Integer, Lun> luns) {
            return new Target(iqn, "", luns, Optional.empty(), Optional.empty(),
                    ChapAlgorithm.DEFAULT_ORDER, Set.of(), List.of(), Optional.empty(),
                    Map.of());
        }

        /** A target with these devices as LUN 0, 1, and so on. */
        public static Target of(String iqn, List<String> uris) {
            var luns = new TreeMap<Integer, Lun>();
            uris.forEach(uri -> luns.put(luns.size(), Lun.of(uri)));
            return of(iqn, luns);
        }

        /** Returns a copy with other credentials, {@code USER:@FILE}, for all initiators. */
        public Target withChap(Optional<String> user, Optional<String> mutual) {
            return new Target(iqn, alias, luns, user, mutual, chapAlgorithms, groups, initiators,
                    absence, access);
        }

        /** Returns a copy that accepts these algorithms. */
        public Target withChapAlgorithms(List<ChapAlgorithm> accepted) {
            return new Target(iqn, alias, luns, chap, mutualChap, accepted, groups, initiators,
                    absence, access);
        }

        /** Returns a copy that only these initiator names may use; an empty list admits all. */
        public Target withInitiators(List<String> names) {
            return new Target(iqn, alias, luns, chap, mutualChap, chapAlgorithms, groups,
                    names.stream().map(name -> new Initiator(name, Optional.empty(),
                            Optional.empty(), Optional.empty(), false, Optional.empty()))
                            .toList(),
                    absence, access);
        }

        /** Returns a copy with other units, and initiators for them. */
        Target withLuns(SortedMap<Integer, Lun> units, List<Initiator> users) {
            return new Target(iqn, alias, units, chap, mutualChap, chapAlgorithms, groups, users,
                    absence, access);
        }

        /** Returns a copy with another name for people. */
        public Target withAlias(String text) {
            return new Target(iqn, text, luns, chap, mutualChap, chapAlgorithms, groups,
                    initiators, absence, access);
        }

        /** Whether an initiator may use it without proof: a name alone is no proof. */
        boolean isOpen() {
            return chap.isEmpty() && (initiators.isEmpty()
                    || initiators.stream().anyMatch(one -> one.chap().isEmpty()));
        }
    }

    /** Makes the lists unmodifiable. */
    public ServerPlan {
        portals = List.copyOf(portals);
        targets = List.copyOf(targets);
        chapAlgorithms = List.copyOf(chapAlgorithms);
    }

    /**
     * Returns a plan with defaults for all other settings: digests if the initiator requests them, and no saved state.
     */
    public static ServerPlan of(List<Listen> portals, List<Target> targets) {
        return new ServerPlan(portals, targets, false, DigestChoice.PREFER_NONE,
                DigestChoice.PREFER_NONE, Optional.empty(), Optional.empty(), Optional.empty(),
                ChapAlgorithm.DEFAULT_ORDER, Limits.DEFAULT, DeviceOpener.DEVICES, true);
    }

    /** Returns a copy with other targets. */
    public ServerPlan withTargets(List<Target> other) {
        return new ServerPlan(portals, other, allowAnonymous, headerDigest, dataDigest, state,
                isns, discoveryChap, chapAlgorithms, limits, opener, announceResets);
    }

    /** Returns a copy that keeps reservations and saved mode pages in a directory. */
    public ServerPlan withState(Path directory) {
        return new ServerPlan(portals, targets, allowAnonymous, headerDigest, dataDigest,
                Optional.of(directory), isns, discoveryChap, chapAlgorithms, limits, opener,
                announceResets);
    }

    /** Returns a copy that lets initiators on other machines in without CHAP, or not. */
    public ServerPlan withAllowAnonymous(boolean value) {
        return new ServerPlan(portals, targets, value, headerDigest, dataDigest, state, isns,
                discoveryChap, chapAlgorithms, limits, opener, announceResets);
    }

    /** Returns a copy that registers the targets at an iSNS server. */
    public ServerPlan withIsns(IsnsServer at) {
        return new ServerPlan(portals, targets, allowAnonymous, headerDigest, dataDigest, state,
                Optional.of(at), discoveryChap, chapAlgorithms, limits, opener, announceResets);
    }

    /** Returns a copy with other limits. */
    public ServerPlan withLimits(Limits other) {
        return new ServerPlan(portals, targets, allowAnonymous, headerDigest, dataDigest, state,
                isns, discoveryChap, chapAlgorithms, other, opener, announceResets);
    }

    /** Returns a copy whose devices are opened in another way. */
    public ServerPlan withOpener(DeviceOpener other) {
        return new ServerPlan(portals, targets, allowAnonymous, headerDigest, dataDigest, state,
                isns, discoveryChap, chapAlgorithms, limits, other, announceResets);
    }
}
