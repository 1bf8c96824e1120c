package lunar.scsi.target.block;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import lunar.scsi.target.Nexus;
import org.jspecify.annotations.Nullable;

/**
 * Reports to every initiator port of a unit that acknowledged writes may be lost. A device may report a loss only once,
 * to the port that flushes first (a LUN of another target that was reset). The other ports wrote to the same cache, and
 * their next flush or write with FUA would succeed. Therefore a command of each port that has a session at the time
 * fails once, also after the port has logged in again; other ports learn of it at their next login ({@link
 * LossVerifier}). A device that counts its losses ({@link
 * lunar.block.BlockDevice#writeLosses}) may lose more while an earlier loss is not acknowledged yet: a command of a
 * port that was told of fewer losses fails again. Thread-safe; costs a volatile read while nothing is owed.
 */
final class LossNotices {
    /** Maximum number of remembered ports; beyond it the oldest are forgotten. */
    private static final int MAX_PORTS = 4096;
    private static final long TOLD_OF_NONE = -1;

    /**
     * By port name: number of losses that the port was told of since its last successful flush. A port whose number is
     * behind is owed a failure. Guarded by itself.
     */
    private final Map<String, Long> ports = new LinkedHashMap<>();
    private volatile boolean any;
    /** Loss count of the device when it last reported a loss; guarded by the ports. */
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
        synchronized (ports) {
            for (Nexus nexus : nexuses) {
                ports.putIfAbsent(nexus.initiatorPort(), TOLD_OF_NONE);
            }
            seen = Math.max(seen, losses);
            any = true;
            if (told != null) {
                ports.put(told.initiatorPort(), seen);
            }
            forgetOldest();
        }
    }

    private void forgetOldest() {
        Iterator<String> oldest = ports.keySet().iterator();
        while (ports.size() > MAX_PORTS) {
            oldest.next();
            oldest.remove();
        }
    }

    /** Whether a command of a nexus must fail now; if so, marks the nexus as told. */
    boolean take(Nexus nexus) {
        synchronized (ports) {
            Long told = ports.get(nexus.initiatorPort());
            boolean isOwed = told != null && told < seen;
            if (isOwed) {
                ports.put(nexus.initiatorPort(), seen);
            }
            return isOwed;
        }
    }

    /**
     * Records a successful flush of a nexus: a later loss is a new one. A failure that is still owed to the nexus
     * stays.
     */
    void flushed(Nexus nexus) {
        synchronized (ports) {
            ports.remove(nexus.initiatorPort(), seen);
            any = !ports.isEmpty();
        }
    }
}
