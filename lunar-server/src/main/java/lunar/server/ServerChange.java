package lunar.server;

import java.net.InetSocketAddress;
import java.util.List;

/**
 * Describes a configuration change of a server: units and portals before and after.
 *
 * @param unitsBefore logical units before
 * @param units logical units now
 * @param portalsBefore addresses of the portals before
 * @param portals addresses of the portals now
 */
public record ServerChange(List<ServedUnit> unitsBefore, List<ServedUnit> units,
        List<InetSocketAddress> portalsBefore, List<InetSocketAddress> portals) {
    /** Makes the lists unmodifiable. */
    public ServerChange {
        unitsBefore = List.copyOf(unitsBefore);
        units = List.copyOf(units);
        portalsBefore = List.copyOf(portalsBefore);
        portals = List.copyOf(portals);
    }
}
