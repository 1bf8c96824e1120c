package lunar.cli;

import java.nio.file.Path;
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
 * @param state directory where reservations and saved mode pages are kept
 */
record ServePlan(List<Portal> portals, List<Target> targets, boolean allowAnonymous,
        Digest headerDigest, Digest dataDigest, Optional<Path> state) {

    /**
     * A logical unit.
     *
     * @param uri its device
     * @param removable whether the medium can be ejected
     * @param rotational whether it tells of a medium that turns
     * @param readOnly whether initiators may not write
     * @param thick whether it hides that blocks can be deallocated
     */
    record Lun(String uri, boolean removable, boolean rotational, boolean readOnly,
            boolean thick) {
        /** A fixed solid-state disk. */
        static Lun of(String uri) {
            return new Lun(uri, false, false, false, false);
        }
    }

    /**
     * A target.
     *
     * @param iqn its name
     * @param alias a name for people, may be empty
     * @param luns LUN 0 is the first
     * @param chap {@code USER:@FILE} of the initiator
     * @param mutualChap {@code USER:@FILE} of the target
     */
    record Target(String iqn, String alias, List<Lun> luns, Optional<String> chap,
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
