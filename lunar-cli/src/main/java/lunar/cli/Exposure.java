package lunar.cli;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lunar.target.PortalSpec;

/** Reachability of a plan's targets: its portals, and whether they let every initiator in. */
final class Exposure {
    private Exposure() {}

    /** The portals of a plan, with their names resolved. */
    static List<PortalSpec> portals(ServePlan plan) throws Failure {
        var portals = new ArrayList<PortalSpec>();
        for (ServePlan.Listen each : plan.portals()) {
            portals.add(new PortalSpec(each.portal().resolve(), each.group(), each.advertised(),
                    each.moved()));
        }
        return portals;
    }

    /** Refuses a target that everybody may use where other machines can reach it, unless that is allowed. */
    static void requireAuthentication(ServePlan plan, List<PortalSpec> portals) throws Failure {
        if (plan.allowAnonymous()) {
            return;
        }
        Optional<ServePlan.Target> open = plan.targets().stream().filter(ServePlan.Target::isOpen)
                .filter(target -> isExposed(target, portals)).findFirst();
        if (open.isPresent()) {
            throw new Failure("other machines can reach this portal of " + open.get().iqn()
                    + ": ask for a secret with --chap USER:@FILE, or let everybody in with"
                    + " --allow-anonymous");
        }
    }

    /** Whether other machines can reach a target. */
    static boolean isExposed(ServePlan.Target target, List<PortalSpec> portals) {
        return !isLoopback(portals.stream().filter(portal -> target.groups().isEmpty()
                || target.groups().contains(portal.group())).toList());
    }

    /** Whether only this machine can connect. */
    static boolean isLoopback(List<PortalSpec> portals) {
        return portals.stream().map(PortalSpec::address).map(InetSocketAddress::getAddress)
                .allMatch(address -> address.isLoopbackAddress());
    }
}
