package lunar.server;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import lunar.block.DeviceUri;
import lunar.iscsi.text.PeerText;
import lunar.target.InitiatorSpec;
import lunar.target.TargetSpec;

/**
 * What a server serves: its configuration, and the changes of LUNs that were made since. Immutable; all operations are
 * pure functions.
 *
 * @param configured the plan that the server was started or reloaded with
 * @param changes the changes, at most one for each LUN
 * @param numbers the LUNs that were served since the server started, by this plan and those before
 */
record RunningPlan(ServerPlan configured, List<LunChange> changes, LunNumbers numbers) {
    /** Maximum length of a URI, in characters. */
    static final int MAX_URI = 4096;

    /** Maximum number of changes. */
    static final int MAX_CHANGES = 1000;

    private static final int BLOCK = 512;

    RunningPlan {
        changes = List.copyOf(changes);
    }

    /** The plan of a server that starts, without changes. */
    static RunningPlan of(ServerPlan configured) {
        return new RunningPlan(configured, List.of(), LunNumbers.NONE.with(configured));
    }

    /** Whether a LUN is not served as configured. */
    boolean isChanged(String iqn, int lun) {
        return changes.stream().anyMatch(change -> change.isAt(iqn, lun));
    }

    /**
     * Returns the plan with its changes. A LUN that was removed is also removed from the tables of initiators, which
     * may name existing LUNs only.
     */
    ServerPlan plan() {
        return changes.isEmpty()
                ? configured
                : configured.withTargets(configured.targets().stream().map(this::changed).toList());
    }

    private ServerPlan.Target changed(ServerPlan.Target target) {
        var luns = new TreeMap<>(target.luns());
        var removed = new HashSet<Integer>();
        for (LunChange change : changes) {
            if (change.isOf(target.iqn())) {
                change.served().ifPresentOrElse(unit -> luns.put(change.lun(), unit), () -> {
                    luns.remove(change.lun());
                    removed.add(change.lun());
                });
            }
        }
        return target.withLuns(luns, target.initiators().stream()
                .map(initiator -> initiator.withoutLuns(removed)).toList());
    }

    // --- another configuration ---

    /**
     * Returns the changes on top of another configuration, without those that it contains already.
     *
     * @throws ContradictedChangeException if it contradicts one
     * @throws InvalidPlanException if a URI of it is malformed
     */
    RunningPlan reconfigured(ServerPlan wanted) throws InvalidPlanException {
        var kept = new ArrayList<LunChange>();
        try {
            for (LunChange change : changes) {
                rebased(change, wanted).ifPresent(kept::add);
            }
        } catch (IllegalArgumentException e) {
            throw InvalidPlanException.of(e);
        }
        return new RunningPlan(wanted, kept, numbers.with(wanted));
    }

    /** Returns another configuration without the changes. */
    RunningPlan discarding(ServerPlan wanted) {
        return new RunningPlan(wanted, List.of(), numbers.with(wanted));
    }

    private static Optional<LunChange> rebased(LunChange change, ServerPlan wanted)
            throws ContradictedChangeException {
        LunChange.Kind kind = change.kind();
        Optional<ServerPlan.Target> target = target(wanted, change.iqn());
        if (target.isEmpty()) {
            if (kind == LunChange.Kind.ADDED || kind == LunChange.Kind.REPLACED) {
                throw new ContradictedChangeException(change,
                        "the configuration no longer has this target");
            }
            return Optional.empty();
        }
        Optional<ServerPlan.Lun> now = Optional
                .ofNullable(target.get().luns().get(change.lun()));
        if (now.equals(change.configured())) {
            return Optional.of(change);
        }
        return switch (kind) {
            case ADDED, REPLACED -> added(change, now);
            case REMOVED -> removed(change, now);
            case RESIZED -> resized(change, now);
        };
    }

    private static Optional<LunChange> added(LunChange change, Optional<ServerPlan.Lun> now)
            throws ContradictedChangeException {
        ServerPlan.Lun served = change.served().orElseThrow();
        if (now.isPresent() && change.isSameDevice(now.get(), served)) {
            return Optional.empty();
        }
        requireSame(change, now);
        return Optional.of(new LunChange(change.iqn(), change.lun(), now, change.served()));
    }

    private static Optional<LunChange> removed(LunChange change, Optional<ServerPlan.Lun> now)
            throws ContradictedChangeException {
        if (now.isEmpty()) {
            return Optional.empty();
        }
        requireSame(change, now);
        return Optional.of(new LunChange(change.iqn(), change.lun(), now, Optional.empty()));
    }

    private static Optional<LunChange> resized(LunChange change, Optional<ServerPlan.Lun> now)
            throws ContradictedChangeException {
        if (now.isEmpty()) {
            return Optional.empty();
        }
        requireSame(change, now);
        long bytes = change.size(change.served().orElseThrow()).orElseThrow();
        Optional<Long> configured = change.size(now.get());
        if (configured.isEmpty() || configured.get() >= bytes) {
            return Optional.empty();
        }
        return Optional.of(new LunChange(change.iqn(), change.lun(), now,
                SizedUri.of(now.get().uri(), bytes).map(now.get()::withUri)));
    }

    /** Requires that the unit which a configuration has at the LUN is on the device of before, if it has one. */
    private static void requireSame(LunChange change, Optional<ServerPlan.Lun> now)
            throws ContradictedChangeException {
        if (now.isPresent() && (change.configured().isEmpty()
                || !change.isSameDevice(now.get(), change.configured().get()))) {
            throw new ContradictedChangeException(change, "the configuration now has "
                    + DeviceUri.withoutSecret(now.get().uri()) + " there");
        }
    }

    /**
     * Returns the plan without the changes that the next start does not undo: a device whose URI names no size keeps
     * the one that it has.
     */
    RunningPlan settled() {
        return new RunningPlan(configured, changes.stream()
                .filter(change -> change.kind() != LunChange.Kind.RESIZED
                        || change.size(change.configured().orElseThrow()).isPresent())
                .toList(), numbers);
    }

    // --- requests ---

    /** Returns the LUN that a request is about: its own, or one that the target has not served yet. */
    int lun(LunRequest request) throws InvalidPlanException {
        return switch (request) {
            case LunRequest.Add add when add.lun().isEmpty() -> next(add.iqn());
            case LunRequest.Add add -> add.lun().getAsInt();
            case LunRequest.Remove remove -> remove.lun();
            case LunRequest.Resize resize -> resize.lun();
        };
    }

    private int next(String iqn) throws InvalidPlanException {
        return numbers.next(served(configured, iqn).iqn());
    }

    /**
     * Returns the plan with what a request asks for.
     *
     * @param lun the LUN that it is about
     * @throws NotServedException if it names a target or a LUN that is not served
     * @throws InvalidPlanException if it cannot be fulfilled
     */
    RunningPlan with(LunRequest request, int lun) throws InvalidPlanException {
        ServerPlan now = plan();
        ServerPlan.Target target = served(now, request.iqn());
        Optional<ServerPlan.Lun> unit = Optional.ofNullable(target.luns().get(lun));
        try {
            RunningPlan next = switch (request) {
                case LunRequest.Add add -> {
                    requireFree(target, lun, unit);
                    requireUri(add.device().uri());
                    yield with(target, lun, Optional.of(add.device()));
                }
                case LunRequest.Remove _ -> {
                    ServerPlan.Lun _ = required(target, lun, unit);
                    yield with(target, lun, Optional.empty());
                }
                case LunRequest.Resize resize -> resized(now, target, lun,
                        required(target, lun, unit), resize.sizeBytes());
            };
            if (next.changes().size() > MAX_CHANGES) {
                throw new InvalidPlanException(MAX_CHANGES + " LUNs are not as configured;"
                        + " configure them, and reload the configuration");
            }
            return next;
        } catch (IllegalArgumentException e) {
            throw InvalidPlanException.of(e);
        }
    }

    private RunningPlan with(ServerPlan.Target target, int lun, Optional<ServerPlan.Lun> unit) {
        Optional<ServerPlan.Lun> before = target(configured, target.iqn())
                .flatMap(one -> Optional.ofNullable(one.luns().get(lun)));
        var change = new LunChange(target.iqn(), lun, before, unit);
        var list = new ArrayList<>(changes);
        list.removeIf(one -> one.isAt(target.iqn(), lun));
        if (!change.isNone()) {
            list.add(change);
        }
        return new RunningPlan(configured, list, numbers.with(target.iqn(), lun));
    }

    /** Changes the size at all LUNs of the device, since it is one unit. */
    private RunningPlan resized(ServerPlan now, ServerPlan.Target of, int lun,
            ServerPlan.Lun unit, long bytes) throws InvalidPlanException {
        if (bytes <= 0 || bytes % BLOCK != 0) {
            throw new InvalidPlanException("cannot resize to " + bytes + " bytes: the size must be"
                    + " a positive multiple of " + BLOCK);
        }
        if (SizedUri.of(unit.uri(), bytes).isEmpty()) {
            throw new InvalidPlanException(unit + " is not resized by the server, only ram: and"
                    + " file: devices are: resize the device itself, and the server reports its"
                    + " new size to initiators");
        }
        DeviceKey device = DeviceKey.of(of.iqn(), lun, unit.uri()).withoutSize();
        RunningPlan next = this;
        for (ServerPlan.Target target : now.targets()) {
            for (var each : target.luns().entrySet()) {
                ServerPlan.Lun known = each.getValue();
                if (DeviceKey.of(target.iqn(), each.getKey(), known.uri())
                        .isSameDevice(device)) {
                    next = next.with(target, each.getKey(),
                            SizedUri.of(known.uri(), bytes).map(known::withUri));
                }
            }
        }
        return next;
    }

    private static void requireFree(ServerPlan.Target target, int lun,
            Optional<ServerPlan.Lun> unit) throws InvalidPlanException {
        if (lun < 0 || lun > TargetSpec.MAX_LUN) {
            throw new InvalidPlanException(
                    "LUN must be 0 to " + TargetSpec.MAX_LUN + ", not " + lun);
        }
        if (unit.isPresent()) {
            throw new InvalidPlanException("LUN " + lun + " of " + target.iqn() + " is "
                    + unit.get() + "; choose another LUN, or remove it first");
        }
    }

    private static void requireUri(String uri) throws InvalidPlanException {
        if (uri.isBlank()) {
            throw new InvalidPlanException(
                    "an empty URI names no device; write for example ram:1GiB");
        }
        if (uri.length() > MAX_URI) {
            throw new InvalidPlanException("the URI has " + uri.length()
                    + " characters; at most " + MAX_URI + " are accepted");
        }
        if (uri.chars().anyMatch(Character::isISOControl)) {
            throw new InvalidPlanException("the URI has a control character; remove it");
        }
    }

    private static ServerPlan.Lun required(ServerPlan.Target target, int lun,
            Optional<ServerPlan.Lun> unit) throws NotServedException {
        return unit.orElseThrow(() -> new NotServedException(
                target.iqn() + " has no LUN " + lun + "; it has "
                        + numbers(target.luns().keySet())));
    }

    private static String numbers(Set<Integer> luns) {
        int most = 10;
        String first = String.join(", ", luns.stream().limit(most).map(String::valueOf).toList());
        return luns.isEmpty() ? "none" : luns.size() > most ? first + " and more" : first;
    }

    private static ServerPlan.Target served(ServerPlan of, String iqn) throws NotServedException {
        return target(of, iqn).orElseThrow(() -> noTarget(iqn));
    }

    static NotServedException noTarget(String iqn) {
        return new NotServedException("no target " + PeerText.printable(iqn)
                + " is served");
    }

    private static Optional<ServerPlan.Target> target(ServerPlan of, String iqn) {
        return of.targets().stream().filter(one -> InitiatorSpec.normal(one.iqn())
                .equals(InitiatorSpec.normal(iqn))).findFirst();
    }
}
