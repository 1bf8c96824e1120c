package lunar.scsi.target;

import java.util.Collection;
import java.util.List;

/**
 * View of a SCSI target device for its logical units: the ports and nexuses through which they are accessed.
 * Thread-safe.
 */
public interface TargetDevice {
    /** Returns the name of the target device. */
    String name();

    /** Returns its ports; each is a target port group of its own. */
    List<TargetPort> ports();

    /** Returns the present nexuses. */
    Collection<Nexus> nexuses();
}
