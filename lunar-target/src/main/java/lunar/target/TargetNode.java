package lunar.target;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import lunar.target.device.CopyService;
import lunar.target.device.LogicalUnit;
import lunar.target.device.ScsiTarget;
import lunar.target.device.TargetPort;

/** A target node at work: its spec, the SCSI device behind it, and the sessions that use it. Thread-safe. */
final class TargetNode {
    private final TargetSpec spec;
    private final ScsiTarget device;
    private final TargetPort port;
    private final Set<Session> sessions = ConcurrentHashMap.newKeySet();

    /** @throws IOException when the saved state of a unit cannot be read */
    TargetNode(TargetSpec spec, int portalGroupTag, ServerLimits limits, CopyService copies)
            throws IOException {
        this.spec = spec;
        port = new TargetPort(spec.name(), portalGroupTag, 1);
        device = new ScsiTarget(spec.name(), List.of(port), copies);
        for (var lun : spec.luns().entrySet()) {
            device.add(lun.getKey(),
                    new LogicalUnit(device, lun.getValue(), limits.maxTransferBytes()));
        }
    }

    TargetSpec spec() { return spec; }

    /** The SCSI target device. */
    ScsiTarget device() { return device; }

    /** The SCSI target port that its portals are. */
    TargetPort port() { return port; }

    Set<Session> sessions() { return sessions; }

    /** Ends all sessions, telling each that its connections are dropped (AsyncEvent 3). */
    void drop(String why) {
        sessions.forEach(session -> session.drop(why));
    }
}
