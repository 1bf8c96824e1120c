package lunar.server;

import java.net.InetSocketAddress;
import java.util.List;
import lunar.target.PortalSpec;

/** Determines whether other machines can reach a plan's targets without authentication. */
final class Exposure {
    private Exposure() {}

    /** Refuses a target that everybody may use where other machines can reach it, unless that is allowed. */
    static void requireAuthentication(ServerPlan plan, List<PortalSpec> portals)
            throws InvalidPlanException {
        for (ServerPlan.Target target : plan.targets()) {
            requireAuthentication(plan, target, portals);
        }
    }

    /** Like the above, for a single target. */
    static void requireAuthentication(ServerPlan plan, ServerPlan.Target target,
            List<PortalSpec> portals) throws OpenTargetException {
        if (!plan.allowAnonymous() && target.isOpen() && isExposed(target, portals)) {
            throw new OpenTargetException(target.iqn());
        }
    }

    /** Whether other machines can reach a target. */
    static boolean isExposed(ServerPlan.Target target, List<PortalSpec> portals) {
        return !isLoopback(portals.stream().filter(portal -> target.groups().isEmpty()
                || target.groups().contains(portal.group())).toList());
    }

    /** Whether only this machine can connect. */
    static boolean isLoopback(List<PortalSpec> portals) {
        return portals.stream().map(PortalSpec::address).map(InetSocketAddress::getAddress)
                .allMatch(address -> address.isLoopbackAddress());
    }
}
