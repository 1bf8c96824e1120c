package lunar.scsi.target;

import java.util.LinkedHashSet;
import java.util.Set;
import lunar.scsi.AdditionalSense;

/**
 * Reports the last power on of a logical unit: a session of an initiator port that it has not seen since hears POWER
 * ON, RESET, OR BUS DEVICE RESET OCCURRED, later ones of this port hear I_T NEXUS LOSS OCCURRED (SAM-5 sections 6.2 and
 * 6.4). Thread-safe.
 */
final class PowerOn {
    /** An initiator port that has been forgotten hears of a power on once more, which does no harm. */
    private static final int MAX_PORTS = 1024;

    /** The ports seen, the latest last; guarded by itself. */
    private final Set<String> ports = new LinkedHashSet<>();

    /**
     * The unit attention for a new session.
     *
     * @param port initiator port and target port
     */
    AdditionalSense attention(String port) {
        synchronized (ports) {
            boolean isKnown = ports.remove(port);
            ports.add(port);
            if (ports.size() > MAX_PORTS) {
                ports.remove(ports.iterator().next());
            }
            return isKnown
                    ? AdditionalSense.NEXUS_LOSS_OCCURRED
                    : AdditionalSense.RESET_OCCURRED; // libiscsi's tools give up at 29h/01h
        }
    }
}
