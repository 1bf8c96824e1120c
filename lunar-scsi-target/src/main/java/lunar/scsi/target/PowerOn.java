package lunar.scsi.target;

import java.util.LinkedHashSet;
import java.util.Set;
import lunar.scsi.AdditionalSense;

/**
 * Selects the first unit attention of a session: POWER ON, RESET, OR BUS DEVICE RESET OCCURRED for the first session of
 * an initiator port since the unit's power on, I_T NEXUS LOSS OCCURRED for later sessions of this port (SAM-5 sections
 * 6.2 and 6.4), and the former again if the unit has lost acknowledged writes while the port had no session.
 * Thread-safe.
 */
final class PowerOn {
    /**
     * Maximum number of remembered ports; a forgotten port gets the power on condition once more, which is harmless.
     */
    private static final int MAX_PORTS = 1024;

    /** Known ports, most recent last; guarded by itself. */
    private final Set<String> ports = new LinkedHashSet<>();

    /**
     * Returns the unit attention for a new session.
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

    /**
     * Records that acknowledged writes may be lost: other ports than the present ones get the power on condition again,
     * as after any reset. DEVICE INTERNAL RESET (29h/04h) would be more exact, but libiscsi gives up at it.
     */
    void lostWrites(Set<String> present) {
        synchronized (ports) {
            ports.retainAll(present);
        }
    }
}
