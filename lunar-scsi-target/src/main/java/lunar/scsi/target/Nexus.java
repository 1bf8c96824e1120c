package lunar.scsi.target;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import lunar.scsi.AdditionalSense;
import org.jspecify.annotations.Nullable;

/**
 * An I_T nexus (SAM-5 section 4.6): an initiator port that uses a target port, which is one session (RFC 7143 section
 * 4.4.1). Holds the per-nexus state of logical units, such as unit attention conditions. Thread-safe.
 */
public final class Nexus {
    /** Aborts the tasks of a nexus at a logical unit. */
    public interface Aborter {
        /**
         * @param marked called with the number of tasks after they are marked and before the nexus does anything else
         * @return their number, once the last of them has ended
         */
        CompletableFuture<Integer> abort(LogicalUnit unit, IntConsumer marked);

        /** Like {@link #abort}, but because the unit is removed, which the initiator is told. */
        CompletableFuture<Integer> withdraw(LogicalUnit unit);
    }

    private final String initiatorName;
    private final TargetDevice target;
    private final TargetPort port;
    private final String displayName;
    private final Aborter aborter;
    private final boolean announcesReset;
    private final Registrant registrant;
    private final Map<LogicalUnit, Attentions> attentions = new ConcurrentHashMap<>();
    private final Map<LogicalUnit, Map<Class<?>, Object>> kept = new ConcurrentHashMap<>();
    private volatile LunMap luns = LunMap.NONE;

    /**
     * @param initiator the initiator port
     * @param displayName the initiator's name as log lines show it, without control characters
     * @param target the target device, of which {@code port} is a port
     * @param aborter ends the tasks of the nexus
     * @param announcesReset whether each unit reports its power on, or the loss of the previous nexus, as a unit
     *        attention
     */
    public Nexus(InitiatorPort initiator, String displayName, TargetDevice target, TargetPort port,
            Aborter aborter, boolean announcesReset) {
        initiatorName = initiator.initiatorName();
        this.displayName = displayName;
        this.target = target;
        this.port = port;
        this.aborter = aborter;
        this.announcesReset = announcesReset;
        registrant = Registrant.of(initiator.name(), port);
    }

    /** Returns the iSCSI name of the initiator in lower case, like TransportIDs. */
    public String initiatorName() {
        return initiatorName;
    }

    /** Returns the target device. */
    public TargetDevice target() { return target; }

    /** Returns the target port. */
    public TargetPort port() { return port; }

    /**
     * Returns the name of the initiator port, which reservations use (RFC 7143 section 4.4.3, SPC-5 section 7.6.4.6).
     */
    public String initiatorPort() { return registrant.initiatorPort(); }

    /** Returns the LUNs of the target that this nexus can access. */
    public LunMap luns() {
        return luns;
    }

    /** Sets the LUNs that this nexus can access. */
    public void show(LunMap map) { luns = map; }

    /** Returns the identity of this nexus in reservations. */
    public Registrant registrant() {
        return registrant;
    }

    /** Aborts the tasks of this nexus at a unit; completes with their number when the last one has ended. */
    public CompletableFuture<Integer> abort(LogicalUnit unit) {
        return aborter.abort(unit, _ -> {}).thenCombine(unit.cancel(this), (count, _) -> count);
    }

    /** Aborts the tasks of this nexus at a unit that it can no longer access; completes like {@link #abort}. */
    public CompletableFuture<Integer> withdraw(LogicalUnit unit) {
        CompletableFuture<Void> rest = CompletableFuture.allOf(unit.cancel(this),
                unit.stopChanges(this::equals));
        return aborter.withdraw(unit).thenCombine(rest, (count, _) -> count);
    }

    /**
     * Aborts the tasks of this nexus at a unit and establishes a unit attention. Commands that it sends afterwards are
     * not aborted; the first one reports the unit attention.
     */
    public CompletableFuture<Integer> abort(LogicalUnit unit, AdditionalSense attention) {
        return aborter.abort(unit, _ -> establish(unit, attention))
                .thenCombine(unit.cancel(this), (count, _) -> count);
    }

    /** Establishes a unit attention condition for this nexus, if it is not pending already. */
    public void establish(LogicalUnit unit, AdditionalSense condition) {
        attentions(unit).establish(condition);
    }

    /** Clears a unit attention condition at all units, because the nexus has learned of it in another way. */
    void clearAttention(AdditionalSense condition) {
        attentions.values().forEach(pending -> pending.clear(condition));
    }

    /**
     * Removes and returns the oldest unit attention of a unit, or null. A unit that was not used before may report its
     * power on.
     */
    @Nullable
    AdditionalSense takeAttention(LogicalUnit unit) { return attentions(unit).take(); }

    /** Returns the oldest unit attention of a unit, which stays pending; empty for none. */
    public Optional<PendingAttention> pendingAttention(LogicalUnit unit) {
        return attentions(unit).pending();
    }

    /** Returns state that a device keeps for this nexus at a unit; created at first use, discarded with the nexus. */
    public <T> T kept(LogicalUnit unit, Class<T> type, Supplier<T> make) {
        return type.cast(kept.computeIfAbsent(unit, _ -> new ConcurrentHashMap<>())
                .computeIfAbsent(type, _ -> make.get()));
    }

    /** Returns state that a device keeps for this nexus at a unit, if any. */
    public <T> Optional<T> kept(LogicalUnit unit, Class<T> type) {
        return Optional.ofNullable(kept.get(unit)).map(all -> all.get(type)).map(type::cast);
    }

    /** Discards the state of a unit that no longer exists. */
    public void forget(LogicalUnit unit) {
        kept.remove(unit);
        attentions.remove(unit);
    }

    /** Whether the unit has chosen its first unit attention for this nexus, which happens when it is first needed. */
    boolean isKnownTo(LogicalUnit unit) {
        return attentions.containsKey(unit);
    }

    private Attentions attentions(LogicalUnit unit) {
        Attentions known = attentions.get(unit);
        return known != null
                ? known
                : attentions.computeIfAbsent(unit,
                        _ -> new Attentions(announcesReset
                                ? unit.firstAttention(this)
                                : null));
    }

    @Override
    public String toString() { return displayName + " on " + port.targetName(); }
}
