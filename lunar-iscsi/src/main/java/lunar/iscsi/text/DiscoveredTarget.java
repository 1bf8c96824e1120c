package lunar.iscsi.text;

import java.util.List;

/**
 * A target and its portals, as SendTargets names them (RFC 7143 appendix C).
 *
 * @param name TargetName
 * @param addresses its portal addresses; empty if the queried portal is the only one
 */
public record DiscoveredTarget(String name, List<TargetAddress> addresses) {
    public DiscoveredTarget {
        addresses = List.copyOf(addresses);
    }
}
