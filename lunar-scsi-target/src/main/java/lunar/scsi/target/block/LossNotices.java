package lunar.scsi.target.block;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import lunar.scsi.target.Nexus;
import lunar.scsi.target.Registrant;
import org.jspecify.annotations.Nullable;

/**
 * Reports to every nexus of a unit that acknowledged writes may be lost. A device may report a loss only once, to the
 * nexus that flushes first (a LUN of another target that was reset). The others wrote to the same cache, and their next
 * flush or write with FUA would succeed. Therefore a command of each nexus that is present at the time fails once, also
 * after its initiator port has logged in again to the same target port; others learn of it at their next login ({@link
 * LossVerifier}). An initiator port with sessions at several target ports is told by each: they keep no order, so
 * success at one could overtake the failure at another. A device that counts its losses ({@link
 * lunar.block.BlockDevice#writeLosses}) may lose more while an earlier loss is not acknowledged yet: a command of a
 * nexus that was told of fewer losses fails again. Thread-safe; costs a volatile read while nothing is owed.
 */
final class LossNotices {
    /** Maximum number of remembered nexuses; beyond it the oldest are forgotten. */
    private static final int MAX_NEXUSES = 4096;
    private static final long TOLD_OF_NONE = -1;

    /**
     * Number of losses that a nexus was told of since its last successful flush. A nexus whose number is behind is owed
     * a failure. Guarded by itself.
     */
    private final Map<Registrant, Long> known = new LinkedHashMap<>();
    private volatile boolean any;
    /** Loss count of the device when it last reported a loss; guarded by the map. */
    private long seen;

    /** Whether any failure is owed. */
    boolean any() { return any; }

    /**
     * Records that the device has reported a loss.
     *
     * @param told the nexus that gets the report; null for none
     * @param losses loss count of the device
     */
    void lost(@Nullable Nexus told, long losses, List<Nexus> nexuses) {
        synchronized (known) {
            for (Nexus nexus : nexuses) {
                known.putIfAbsent(nexus.registrant(), TOLD_OF_NONE);
            }
            seen = Math.max(seen, losses);
            any = true;
            if (told != null) {
                known.put(told.registrant(), seen);
            }
            forgetOldest();
        }
    }

    private void forgetOldest() {
        Iterator<Registrant> oldest = known.keySet().iterator();
        while (known.size() > MAX_NEXUSES) {
            oldest.next();
            oldest.remove();
        }
    }

    /** Whether a command of a nexus must fail now; if so, marks the nexus as told. */
    boolean take(Nexus nexus) {
        synchronized (known) {
            Long told = known.get(nexus.registrant());
            boolean isOwed = told != null && told < seen;
            if (isOwed) {
                known.put(nexus.registrant(), seen);
            }
            return isOwed;
        }
    }

    /**
     * Records a successful flush of a nexus: a later loss is a new one. A failure that is still owed to the nexus
     * stays.
     */
    void flushed(Nexus nexus) {
        synchronized (known) {
            known.remove(nexus.registrant(), seen);
            any = !known.isEmpty();
        }
    }
}
