package lunar.scsi.target.reservation;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import lunar.scsi.AdditionalSense;
import lunar.scsi.target.LogicalUnit;
import lunar.scsi.target.Nexus;
import lunar.scsi.target.Registrant;

/**
 * Applies the effects of reservation changes to the nexuses that this server has with a unit: aborts and unit
 * attentions. Thread-safe.
 */
public final class ReservationEffects {
    private final LogicalUnit unit;

    /** Creates the effects for the nexuses of a unit. */
    public ReservationEffects(LogicalUnit unit) {
        this.unit = unit;
    }

    /** Aborts tasks and establishes unit attention conditions; completes when the last of the tasks has ended. */
    public CompletableFuture<Void> apply(Map<Registrant, AdditionalSense> attentions,
            Set<Registrant> preempted) {
        CompletableFuture<Void> aborted = abort(preempted);
        tell(attentions);
        return aborted;
    }

    private void tell(Map<Registrant, AdditionalSense> attentions) {
        for (Nexus nexus : unit.nexuses()) {
            AdditionalSense attention = attentions.get(nexus.registrant());
            if (attention != null) {
                nexus.establish(unit, attention);
            }
        }
    }

    /**
     * Aborts the tasks of preempted registrants (SPC-5 section 5.13.11.2.7).
     *
     * @return completes when the last of them has ended
     */
    private CompletableFuture<Void> abort(Set<Registrant> whose) {
        if (whose.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        CompletableFuture<Void> changes = unit
                .stopChanges(nexus -> whose.contains(nexus.registrant()));
        CompletableFuture<Void> tasks = CompletableFuture.allOf(unit.nexuses().stream()
                .filter(nexus -> whose.contains(nexus.registrant()))
                .map(nexus -> nexus.abort(unit)).toArray(CompletableFuture[]::new));
        return CompletableFuture.allOf(changes, tasks);
    }
}
