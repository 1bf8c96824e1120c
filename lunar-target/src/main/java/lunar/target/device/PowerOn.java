package lunar.target.device;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.scsi.AdditionalSense;

/**
 * Reports the last power on of a logical unit: a session of an initiator port that it has not seen since hears POWER
 * ON, RESET, OR BUS DEVICE RESET OCCURRED, later ones of this port hear I_T NEXUS LOSS OCCURRED (SAM-5 sections 6.2 and
 * 6.4). Thread-safe.
 */
final class PowerOn {
    /** An initiator port that has been forgotten hears of a power on once more, which does no harm. */
    private static final int MAX_PORTS = 1024;

    private final BlockDevice device;
    /** Where the device has none of its own: its caches may have been lost with the process before this one. */
    private final UUID ownVerifier = UUID.randomUUID();
    /** The ports seen, the latest last; guarded by itself. */
    private final Set<String> ports = new LinkedHashSet<>();

    PowerOn(BlockDevice device) { this.device = device; }

    /** The unit attention for a new session. */
    AdditionalSense attention(Nexus nexus) {
        String port = nexus.port().targetName() + "," + nexus.port().tag() + ","
                + nexus.initiatorPort();
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

    /** Changes when acknowledged writes may have been lost. */
    UUID writeVerifier() {
        return device.writeVerifier().orElse(ownVerifier);
    }
}
