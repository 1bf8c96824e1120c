package lunar.scsi.target.block;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import lunar.scsi.target.Nexus;

/**
 * Tells every initiator port of a unit that acknowledged writes may be lost. A device may say so once, to the port
 * that flushes first (a LUN of another target that was reset); the others wrote to the same cache, and their next
 * flush or write with FUA would succeed. Each port that has a session at the time is owed one failure, also after it
 * has logged in again. A device that counts its losses ({@link lunar.block.BlockDevice#writeLosses}) may lose more
 * while an earlier loss is not accepted yet: a port that was told of fewer is owed another failure. Thread-safe; costs
 * a volatile read while nothing is owed.
 */
final class LossNotices {
    /** Ports that went away and never came back are forgotten beyond this number, the oldest first. */
    private static final int MAX_PORTS = 4096;
    private static final long TOLD_OF_NONE = -1;

    /**
     * Losses that a port was told of since its last flush that succeeded, by name of the port. A port is owed a failure
     * where there are more by now. Guarded by itself.
     */
    private final Map<String, Long> ports = new LinkedHashMap<>();
    private volatile boolean any;
    /** Losses that the device had counted when it told of the last one; guarded by the ports. */
    private long seen;

    /** Whether there is anything to ask for. */
    boolean any() { return any; }

    /**
     * The device has told one nexus.
     *
     * @param losses that the device has counted
     */
    void lost(Nexus told, long losses, List<Nexus> nexuses) {
        synchronized (ports) {
            lost(losses, nexuses);
            ports.put(told.initiatorPort(), seen);
            forgetOldest();
        }
    }

    /** The device has told of a loss, but no nexus has heard of it. */
    void lost(long losses, List<Nexus> nexuses) {
        synchronized (ports) {
            for (Nexus nexus : nexuses) {
                ports.putIfAbsent(nexus.initiatorPort(), TOLD_OF_NONE);
            }
            seen = Math.max(seen, losses);
            any = true;
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

    /** Whether a nexus is to be told now; then it has been. */
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

    /** A flush of a nexus has succeeded: a later loss is another one. What the nexus is still owed stays. */
    void flushed(Nexus nexus) {
        synchronized (ports) {
            ports.remove(nexus.initiatorPort(), seen);
            any = !ports.isEmpty();
        }
    }
}
