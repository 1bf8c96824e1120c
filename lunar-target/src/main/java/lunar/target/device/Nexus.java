package lunar.target.device;

import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntConsumer;
import lunar.iscsi.Isid;
import lunar.iscsi.PeerText;
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

    /** A pending unit attention, and whether there are more. */
    public record Pending(AdditionalSense oldest, boolean more) {}

    private final String initiatorName;
    private final Isid isid;
    private final TargetPort port;
    private final Aborter aborter;
    private final boolean announcesReset;
    private final Registrant registrant;
    private final Map<LogicalUnit, Attentions> attentions = new ConcurrentHashMap<>();
    private final Map<LogicalUnit, CopyOperations> copies = new ConcurrentHashMap<>();
    private volatile LunMap luns = LunMap.NONE;

    public Nexus(String initiatorName, Isid isid, TargetPort port, Aborter aborter) {
        this(initiatorName, isid, port, aborter, true);
    }

    /** @param announcesReset whether each unit tells it of its power on, or of the loss of the nexus before this one */
    public Nexus(String initiatorName, Isid isid, TargetPort port, Aborter aborter,
            boolean announcesReset) {
        this.initiatorName = initiatorName;
        this.isid = isid;
        this.port = port;
        this.aborter = aborter;
        this.announcesReset = announcesReset;
        registrant = Registrant.of(portName(initiatorName, isid.value()), port);
    }

    /** iSCSI name of the initiator, in lower case, as TransportIDs are read. */
    public String initiatorName() {
        return initiatorName;
    }

    /** The initiator's part of the session identifier. */
    public Isid isid() { return isid; }

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
    Registrant registrant() {
        return registrant;
    }

    /** Name of the port of an initiator that has an ISID. */
    static String portName(String initiatorName, long isid) {
        return initiatorName + ",i,0x" + String.format(Locale.ROOT, "%012x", isid);
    }

    /** Aborts the tasks that this nexus has on a unit; ends with their number when the last has ended. */
    public CompletableFuture<Integer> abort(LogicalUnit unit) {
        return aborter.abort(unit, _ -> {}).thenCombine(cancelCopies(unit), (count, _) -> count);
    }

    /** Aborts the tasks that this nexus has on a unit because it does not see it any more; ends like {@link #abort}. */
    public CompletableFuture<Integer> withdraw(LogicalUnit unit) {
        CompletableFuture<Void> copies = CompletableFuture.allOf(cancelCopies(unit),
                unit.copyWrites().stop(this::equals));
        return aborter.withdraw(unit).thenCombine(copies, (count, _) -> count);
    }

    /**
     * Aborts the tasks that this nexus has on a unit and tells it by a unit attention: what it sends afterwards is not
     * aborted, and hears of it.
     */
    public CompletableFuture<Integer> abort(LogicalUnit unit, AdditionalSense attention) {
        return aborter.abort(unit, _ -> establish(unit, attention))
                .thenCombine(cancelCopies(unit), (count, _) -> count);
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

    /** The oldest unit attention of a unit, which stays pending; null for none. */
    public @Nullable Pending pendingAttention(LogicalUnit unit) {
        return attentions(unit).pending();
    }

    /**
     * Cancels the copy operations that it has begun at a unit and that go on after their commands, as a reset, a nexus
     * loss and PREEMPT AND ABORT do (SPC-5 section 5.18.4.3); ends when they have ended.
     */
    public CompletableFuture<Void> cancelCopies(LogicalUnit unit) {
        CopyOperations known = copies.get(unit);
        return known == null ? CompletableFuture.completedFuture(null) : known.cancel();
    }

    /** The copy operations that it has begun at a unit. */
    CopyOperations copies(LogicalUnit unit) {
        return copies.computeIfAbsent(unit, _ -> new CopyOperations());
    }

    /** Forgets what was kept for a unit that is no more. */
    public void forget(LogicalUnit unit) {
        copies.remove(unit);
        attentions.remove(unit);
    }

    private Attentions attentions(LogicalUnit unit) {
        Attentions known = attentions.get(unit);
        return known != null
                ? known
                : attentions.computeIfAbsent(unit,
                        _ -> new Attentions(announcesReset
                                ? unit.powerOn().attention(this)
                                : null));
    }

    @Override
    public String toString() {
        return PeerText.printable(initiatorName) + " on " + port.targetName();
    }
}
