package lunar.scsi.target;

import java.util.Collection;
import java.util.List;

/** A SCSI target device as its logical units see it: the ports and nexuses by which they are used. Thread-safe. */
public interface TargetDevice {
    /** Name of the target device. */
    String name();

    /** Its ports; each is a target port group of its own. */
    List<TargetPort> ports();

    /** The present nexuses. */
    Collection<Nexus> nexuses();
}
