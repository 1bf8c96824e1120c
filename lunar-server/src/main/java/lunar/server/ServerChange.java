package lunar.server;

import java.util.List;

/**
 * Describes a configuration change of a server: units and portals before and after.
 *
 * @param unitsBefore logical units before
 * @param units logical units now
 * @param portalsBefore portals before
 * @param portals portals now
 */
public record ServerChange(List<ServedUnit> unitsBefore, List<ServedUnit> units,
        List<ServedPortal> portalsBefore, List<ServedPortal> portals) {
    /** Makes the lists unmodifiable. */
    public ServerChange {
        unitsBefore = List.copyOf(unitsBefore);
        units = List.copyOf(units);
        portalsBefore = List.copyOf(portalsBefore);
        portals = List.copyOf(portals);
    }
}
