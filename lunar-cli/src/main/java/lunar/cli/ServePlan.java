package lunar.cli;

import java.util.List;
import java.util.Optional;

/**
 * What {@code serve} is asked to serve, from the command line or from a config file. Immutable.
 *
 * @param portals where to listen
 * @param targets what to serve
 * @param allowAnonymous whether a portal that others can reach may do without CHAP
 * @param headerDigest HeaderDigest
 * @param dataDigest DataDigest
 */
record ServePlan(List<Portal> portals, List<Target> targets, boolean allowAnonymous,
        Digest headerDigest, Digest dataDigest) {

    /**
     * A target.
     *
     * @param iqn its name
     * @param alias a name for people, may be empty
     * @param luns device URIs; LUN 0 is the first
     * @param chap {@code USER:@FILE} of the initiator
     * @param mutualChap {@code USER:@FILE} of the target
     */
    record Target(String iqn, String alias, List<String> luns, Optional<String> chap,
            Optional<String> mutualChap) {
        Target {
            luns = List.copyOf(luns);
        }
    }

    ServePlan {
        portals = List.copyOf(portals);
        targets = List.copyOf(targets);
    }
}
