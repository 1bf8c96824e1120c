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
 * 4.4.1). Holds what a logical unit keeps for each of them. Thread-safe.
 */
public final class Nexus {
    /** Ends the tasks of a nexus on a unit. */
    public interface Aborter {
        /**
         * @param marked told how many there are, once they are marked and before the nexus does anything else
         * @return their number, once the last of them has ended
         */
        CompletableFuture<Integer> abort(LogicalUnit unit, IntConsumer marked);

        /** Like {@link #abort}, but because the unit is taken away, which their initiator is told. */
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
     * @param announcesReset whether each unit tells it of its power on, or of the loss of the nexus before this one
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

    /** iSCSI name of the initiator, in lower case, as TransportIDs are read. */
    public String initiatorName() {
        return initiatorName;
    }

    /** The target device that it uses. */
    public TargetDevice target() { return target; }

    /** The target port. */
    public TargetPort port() { return port; }

    /** Name of the initiator port, of which reservations speak (RFC 7143 section 4.4.3, SPC-5 section 7.6.4.6). */
    public String initiatorPort() {
        return registrant.initiatorPort();
    }

    /** Returns the LUNs that it sees of the target. */
    public LunMap luns() { return luns; }

    /** Sets the LUNs that it sees. */
    public void show(LunMap map) { luns = map; }

    /** Returns the identity by which reservations know it. */
    public Registrant registrant() {
        return registrant;
    }

    /** Aborts the tasks that this nexus has on a unit; ends with their number when the last has ended. */
    public CompletableFuture<Integer> abort(LogicalUnit unit) {
        return aborter.abort(unit, _ -> {}).thenCombine(unit.cancel(this), (count, _) -> count);
    }

    /** Aborts the tasks that this nexus has on a unit because it does not see it any more; ends like {@link #abort}. */
    public CompletableFuture<Integer> withdraw(LogicalUnit unit) {
        CompletableFuture<Void> rest = CompletableFuture.allOf(unit.cancel(this),
                unit.stopChanges(this::equals));
        return aborter.withdraw(unit).thenCombine(rest, (count, _) -> count);
    }

    /**
     * Aborts the tasks that this nexus has on a unit and tells it by a unit attention: what it sends afterwards is not
     * aborted, and hears of it.
     */
    public CompletableFuture<Integer> abort(LogicalUnit unit, AdditionalSense attention) {
        return aborter.abort(unit, _ -> establish(unit, attention))
                .thenCombine(unit.cancel(this), (count, _) -> count);
    }

    /** Establishes a unit attention condition for this nexus, if it is not pending already. */
    public void establish(LogicalUnit unit, AdditionalSense condition) {
        attentions(unit).establish(condition);
    }

    /** Forgets a unit attention condition of all units that it has learned of in another way. */
    void clearAttention(AdditionalSense condition) {
        attentions.values().forEach(pending -> pending.clear(condition));
    }

    /** Takes the oldest unit attention of a unit, or null. A unit not used before may tell of its power on. */
    @Nullable
    AdditionalSense takeAttention(LogicalUnit unit) { return attentions(unit).take(); }

    /** Returns the oldest unit attention of a unit, which stays pending; empty if there is none. */
    public Optional<PendingAttention> pendingAttention(LogicalUnit unit) {
        return attentions(unit).pending();
    }

    /** Returns what a device keeps for this nexus at a unit, made at its first use; forgotten with the nexus. */
    public <T> T kept(LogicalUnit unit, Class<T> type, Supplier<T> make) {
        return type.cast(kept.computeIfAbsent(unit, _ -> new ConcurrentHashMap<>())
                .computeIfAbsent(type, _ -> make.get()));
    }

    /** Returns what a device keeps for this nexus at a unit, if anything. */
    public <T> Optional<T> kept(LogicalUnit unit, Class<T> type) {
        return Optional.ofNullable(kept.get(unit)).map(all -> all.get(type)).map(type::cast);
    }

    /** Forgets what was kept for a unit that is no more. */
    public void forget(LogicalUnit unit) {
        kept.remove(unit);
        attentions.remove(unit);
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
