package lunar.target.internal.session;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import lunar.block.StorageException;
import lunar.scsi.AdditionalSense;
import lunar.scsi.primary.TargetPortGroups.State;
import lunar.scsi.target.DeviceServer;
import lunar.scsi.target.LogicalUnit;
import lunar.scsi.target.LunMap;
import lunar.scsi.target.Nexus;
import lunar.scsi.target.ScsiTarget;
import lunar.scsi.target.TargetPort;
import lunar.scsi.target.UnitSpec;
import lunar.target.InitiatorSpec;
import lunar.target.TargetSpec;
import lunar.target.internal.task.RateLimiter;
import lunar.target.internal.task.SessionRates;
import lunar.target.status.CommandCounts;

/**
 * A running target node: its spec, the SCSI device behind it, and the sessions that use it. The spec may change while
 * commands run: a session sees either the old or the new LUNs, and the commands of a removed unit are aborted.
 * Thread-safe.
 */
public final class TargetNode {
    /** Time for an initiator to log out when its portal or target is removed. */
    public static final long LEAVING_MS = 2_000;

    private static final System.Logger LOG = System.getLogger("lunar.target");

    private final ScsiTarget device;
    private final UnitRegistry units;
    private final Portals portals;
    private final Set<Session> sessions = ConcurrentHashMap.newKeySet();
    private volatile TargetSpec spec;
    private volatile Map<Integer, LogicalUnit> luns = Map.of();
    /** Counts of sessions that have ended, by unit; guarded by this. */
    private final Map<LogicalUnit, CommandCounts> endedCounts = new HashMap<>();
    /** Enforce the limits of initiators that have sessions, or had and have not paid yet, by name; guarded by this. */
    private final Map<String, RateLimiter> initiatorRates = new HashMap<>();
    /** Enforce the limits of units; guarded by this. */
    private Map<DeviceServer, RateLimiter> unitRates = Map.of();
    private boolean gone;
    /** Ends with the last change of states of shared units; guarded by this. */
    private CompletableFuture<Void> accessChanges = CompletableFuture.completedFuture(null);

    /** A prepared change to a new spec, with its units; to be passed to {@link #make} or {@link #cancel}. */
    record Change(TargetSpec spec, Map<Integer, LogicalUnit> luns, List<LogicalUnit> taken) {}

    /**
     * @param portals the portals of the server
     * @throws IOException if the saved state of a unit cannot be read
     */
    public TargetNode(TargetSpec spec, Portals portals, UnitRegistry units) throws IOException {
        this.spec = spec;
        this.units = units;
        this.portals = portals;
        device = new ScsiTarget(spec.name(), ports(spec));
        luns = prepare(spec).luns();
        device.serve(luns);
        present(Map.of(), Map.of());
    }

    public TargetSpec spec() { return spec; }

    /** Returns the SCSI target device. */
    public ScsiTarget device() { return device; }

    public Set<Session> sessions() { return sessions; }

    /** Ends all sessions, and announces to each that its connections are dropped (AsyncEvent 3). */
    void drop(String why) {
        sessions.forEach(session -> session.drop(why));
    }

    /** Returns the SCSI target port of a portal group. */
    TargetPort port(int group) {
        return new TargetPort(device.name(), group, group);
    }

    /** Whether it can be reached through a portal group. */
    boolean isIn(int group) {
        return groups(spec).contains(group);
    }

    /** Returns the tags of its portal groups. */
    SortedSet<Integer> groups() {
        return groups(spec);
    }

    private SortedSet<Integer> groups(TargetSpec of) {
        return of.groups().isEmpty() ? portals.groups() : new TreeSet<>(of.groups());
    }

    /** Returns its ports. The tag is also the relative identifier, which must be stable for reservations. */
    private List<TargetPort> ports(TargetSpec of) {
        return groups(of).stream().map(tag -> new TargetPort(of.name(), tag, tag)).toList();
    }

    /** Updates the SCSI device with the ports of the current portal groups. */
    synchronized void presentPorts() {
        device.present(ports(spec));
        present(Map.of(), Map.of());
    }

    // --- sessions ---

    /** Adds a session, if the initiator may still use the target; returns whether it may. */
    synchronized boolean join(Session session) {
        Optional<InitiatorSpec> access = access(session.nexus());
        if (gone || access.isEmpty() || !isIn(session.nexus().port().tag())) {
            return false;
        }
        session.nexus().show(view(access.get()));
        forgetInitiators();
        session.limit(rates(session.nexus()));
        sessions.add(session);
        device.begin(session.nexus());
        return true;
    }

    /** Removes a session that has ended. */
    synchronized void leave(Session session) {
        if (sessions.remove(session)) {
            device.end(session.nexus());
            for (LogicalUnit unit : Set.copyOf(luns.values())) {
                session.counters().counts(unit.server()).ifPresent(counts -> endedCounts
                        .merge(unit, counts.withoutInFlight(), CommandCounts::plus));
            }
            forgetInitiators();
        }
    }

    /**
     * Returns the counts of the commands to the unit of a LUN of the target, of all sessions so far. Does not delay
     * logins: the lock is not held while counters are read.
     */
    public CommandCounts counts(int lun) {
        LogicalUnit unit;
        List<Session> running;
        CommandCounts sum;
        synchronized (this) { // so that a session that ends meanwhile is counted once
            unit = luns.get(lun);
            if (unit == null) {
                return CommandCounts.NONE;
            }
            running = List.copyOf(sessions);
            sum = endedCounts.getOrDefault(unit, CommandCounts.NONE);
        }
        for (Session session : running) {
            sum = session.counters().counts(unit.server()).map(sum::plus).orElse(sum);
        }
        return sum;
    }

    /** Drops the counters of a session for a unit, unless the target serves the unit again. On the loop's thread. */
    private synchronized void forgetCounts(Session session, LogicalUnit unit) {
        if (!luns.containsValue(unit)) {
            session.tasks().forgetCounts(unit.server());
        }
    }

    private Optional<InitiatorSpec> access(Nexus nexus) {
        return spec.access(nexus.initiatorName());
    }

    private LunMap view(InitiatorSpec access) {
        var seen = new TreeMap<Integer, LunMap.Entry>();
        if (access.luns().isPresent()) {
            access.luns().get().forEach((own, lun) -> seen.put(own,
                    new LunMap.Entry(Objects.requireNonNull(luns.get(lun)), access.readOnly())));
        } else {
            luns.forEach((lun, unit) -> seen.put(lun, new LunMap.Entry(unit, access.readOnly())));
        }
        return new LunMap(seen);
    }

    /** Begins to serve: sets the limits of the units, also for other targets that serve them. */
    public synchronized void begin() {
        var rates = new HashMap<DeviceServer, RateLimiter>();
        for (LogicalUnit unit : Set.copyOf(luns.values())) {
            units.limit(unit, Optional.ofNullable(spec.limits().get(unit.key())))
                    .ifPresent(rate -> rates.put(unit.server(), rate));
        }
        unitRates = Map.copyOf(rates);
        sessions.forEach(session -> session.limit(rates(session.nexus()))); // some may be early
    }

    /** Returns what enforces the limits of the commands of a nexus; guarded by this. */
    private SessionRates rates(Nexus nexus) {
        RateLimiter initiator = initiatorRates.compute(nexus.initiatorName(),
                (_, before) -> RateLimiter.of(access(nexus).flatMap(InitiatorSpec::limit), before));
        return new SessionRates(initiator, unitRates);
    }

    /**
     * Forgets the limiters of initiators without a session that have paid for what they took: others must not begin
     * anew by logging out.
     */
    private void forgetInitiators() {
        if (!initiatorRates.isEmpty()) {
            Set<String> present = sessions.stream()
                    .map(session -> session.nexus().initiatorName()).collect(Collectors.toSet());
            long nowNanos = System.nanoTime();
            initiatorRates.entrySet().removeIf(entry -> !present.contains(entry.getKey())
                    && entry.getValue().isPaid(nowNanos));
        }
    }

    // --- changes; the server makes one at a time ---

    /**
     * Changes to a new spec of the same name. Unchanged parts are not disturbed; the sessions of an initiator that has
     * lost access are ended, those in a portal group that is gone are asked to log out, and all are when the target
     * becomes absent. Blocks while the saved state of new units is read.
     *
     * @return completes when the last command of each removed unit has ended
     * @throws IOException if the saved state of a unit cannot be read; then nothing has changed
     */
    public CompletableFuture<Void> update(TargetSpec wanted) throws IOException {
        return make(prepare(wanted));
    }

    /** Makes a change; see {@link #update}. */
    synchronized CompletableFuture<Void> make(Change change) {
        Map<Integer, LogicalUnit> before = luns;
        TargetSpec old = spec;
        luns = change.luns();
        spec = change.spec();
        begin();
        device.present(ports(spec));
        device.serve(luns);
        present(before, old.states());
        luns.forEach((lun, unit) -> {
            UnitSpec wanted = Objects.requireNonNull(spec.luns().get(lun));
            UnitSpec known = old.luns().get(lun);
            if (unit.equals(before.get(lun)) && (known == null || !wanted.presentsLike(known))) {
                wanted.present(unit);
            }
        });
        var ends = new ArrayList<CompletableFuture<?>>();
        sessions.forEach(session -> show(session, ends));
        if (spec.absence().isPresent() && !spec.absence().equals(old.absence())) {
            sessions.forEach(session -> session.askForLogout(LEAVING_MS));
        }
        return release(before, luns, ends);
    }

    /** Cancels a prepared change, and releases its new units. */
    void cancel(Change change) {
        for (LogicalUnit unit : change.taken()) {
            var _ = units.giveBack(unit); // not used yet
        }
    }

    /**
     * Sets the states of portal groups: for new units, and for all units where the state differs from before. The units
     * must be served already; otherwise an older target of this name would drop the states when it leaves the units.
     */
    private void present(Map<Integer, LogicalUnit> before,
            Map<Integer, State> old) {
        Map<Boolean, Set<LogicalUnit>> known = luns.values().stream().collect(
                Collectors.partitioningBy(before::containsValue, Collectors.toSet()));
        for (int group : groups()) {
            State state = spec.states().getOrDefault(group, State.ACTIVE_OPTIMIZED);
            device.beginAccess(group, state, Objects.requireNonNull(known.get(false)));
            if (state != old.getOrDefault(group, State.ACTIVE_OPTIMIZED)) {
                changeAccess(group, state, Objects.requireNonNull(known.get(true)));
            }
        }
    }

    /** Changes a state of units; that of shared ones on another thread, since other servers are waited for. */
    private void changeAccess(int group, State state, Set<LogicalUnit> known) {
        Map<Boolean, Set<LogicalUnit>> shared = known.stream().collect(
                Collectors.partitioningBy(LogicalUnit::isShared, Collectors.toSet()));
        changeNow(group, state, Objects.requireNonNull(shared.get(false)));
        Set<LogicalUnit> others = Objects.requireNonNull(shared.get(true));
        if (!others.isEmpty()) {
            accessChanges = accessChanges.thenRunAsync(() -> changeNow(group, state, others),
                    change -> Thread.ofVirtual().name("lunar-access").start(change))
                    .exceptionally(failure -> { // or no later change would be made
                        LOG.log(System.Logger.Level.WARNING, "portal group " + group + " of "
                                + device.name() + " is not " + state, failure);
                        return null;
                    });
        }
    }

    private void changeNow(int group, State state, Set<LogicalUnit> of) {
        try {
            device.changeAccess(group, state, of);
        } catch (StorageException e) {
            LOG.log(System.Logger.Level.WARNING,
                    "portal group {0} of {1} is not {2} for all units: {3}; set its state again",
                    group, device.name(), state, e.getMessage());
        }
    }

    /** Removes the target, and ends all its sessions; returns as {@link #update} does. */
    public synchronized CompletableFuture<Void> remove() {
        gone = true;
        Map<Integer, LogicalUnit> before = luns;
        luns = Map.of();
        var ends = new ArrayList<CompletableFuture<?>>();
        sessions.forEach(session -> end(session, "the target has been removed", ends));
        return release(before, luns, ends).thenRun(() -> device.serve(Map.of()));
    }

    /** Prepares a change to a spec, with existing and new units; all or none of them. */
    Change prepare(TargetSpec wanted) throws IOException {
        var all = new HashMap<Integer, LogicalUnit>();
        var taken = new ArrayList<LogicalUnit>();
        try {
            for (var lun : wanted.luns().entrySet()) {
                LogicalUnit unit = luns.get(lun.getKey());
                if (unit == null || !unit.key().equals(lun.getValue().unitKey())) {
                    unit = units.take(device.name(), lun.getValue());
                    taken.add(unit);
                }
                all.put(lun.getKey(), unit);
            }
            presetAccess(wanted, taken);
            return new Change(wanted, Map.copyOf(all), List.copyOf(taken));
        } catch (IOException | RuntimeException e) {
            cancel(new Change(wanted, Map.of(), taken));
            throw e;
        }
    }

    /** Sets what no server has set yet of units that servers share: before a session sees them here. */
    private void presetAccess(TargetSpec wanted, List<LogicalUnit> taken) throws IOException {
        var states = new HashMap<TargetPort, State>();
        wanted.states().forEach((group, state) -> states.put(port(group), state));
        for (LogicalUnit unit : taken) {
            unit.presetAccess(states);
        }
    }

    /** Gives back the units that are served no longer, once nothing works on them. */
    private CompletableFuture<Void> release(Map<Integer, LogicalUnit> before,
            Map<Integer, LogicalUnit> after, List<CompletableFuture<?>> ends) {
        var leaving = new ArrayList<LogicalUnit>();
        before.forEach((lun, unit) -> {
            if (!unit.equals(after.get(lun))) {
                leaving.add(unit);
            }
        });
        Set<LogicalUnit> kept = Set.copyOf(after.values());
        endedCounts.keySet().retainAll(kept);
        Set<LogicalUnit> removed = new HashSet<>(leaving);
        removed.removeAll(kept);
        return CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new)).thenCompose(_ -> {
            CompletableFuture<Void> returned = CompletableFuture.allOf(
                    leaving.stream().map(units::giveBack).toArray(CompletableFuture[]::new));
            sessions.forEach(session -> session.loop().execute(
                    () -> removed.forEach(unit -> forgetCounts(session, unit))));
            return returned;
        });
    }

    /**
     * Updates the LUN map of a session, or ends the session if its initiator has lost access. A session whose portal
     * group is gone has {@link #LEAVING_MS} to log out, also one without a connection, which no login can continue.
     */
    private void show(Session session, List<CompletableFuture<?>> ends) {
        Nexus nexus = session.nexus();
        Optional<InitiatorSpec> access = access(nexus);
        if (access.isEmpty()) {
            end(session, "the initiator has lost access to the target", ends);
            return; // with its LUN map, by which ScsiTarget.lose finds units that are removed in the same change
        }
        if (!isIn(nexus.port().tag())) {
            var _ = session.logOut(LEAVING_MS, "its portal group is gone");
        }
        LunMap before = nexus.luns();
        LunMap now = view(access.get());
        nexus.show(now);
        boolean others = now.hasOtherUnits(before);
        for (LogicalUnit unit : now.units()) {
            if (others) {
                nexus.establish(unit, AdditionalSense.REPORTED_LUNS_DATA_HAS_CHANGED);
            }
            if (before.units().contains(unit)
                    && before.isReadOnly(unit) != now.isReadOnly(unit)) {
                nexus.establish(unit, AdditionalSense.MODE_PARAMETERS_CHANGED); // the WP bit
            }
        }
        for (LogicalUnit unit : before.units()) {
            if (!now.units().contains(unit)) {
                // Runs on its event loop's thread, between commands of the old and the new map.
                ends.add(nexus.withdraw(unit).thenRun(() -> {
                    var _ = unit.nexusLost(nexus); // its copies have ended with its commands
                    nexus.forget(unit);
                }));
            }
        }
        session.limit(rates(nexus)); // after commands of removed units are to be aborted, so that none begins
    }

    private static void end(Session session, String why, List<CompletableFuture<?>> ends) {
        session.drop(why);
        ends.add(session.ended());
    }
}
