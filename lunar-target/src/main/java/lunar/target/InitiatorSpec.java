package lunar.target;

import java.util.Collections;
import java.util.Locale;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import lunar.iscsi.login.ChapPolicy;

/**
 * Describes the access of an initiator to a target. Immutable.
 *
 * @param name iSCSI name of the initiator, or {@value #ANYBODY} for all initiators without an entry of their own
 * @param chap how it authenticates; empty for the CHAP of the target
 * @param luns LUN map: the target's LUN by the LUN that the initiator uses; empty maps all LUNs unchanged
 * @param readOnly whether it may only read
 * @param limit limits the commands of each initiator of this name, of all its sessions and to all LUNs together
 */
public record InitiatorSpec(String name, Optional<ChapPolicy> chap,
        Optional<SortedMap<Integer, Integer>> luns, boolean readOnly,
        Optional<IoLimit> limit) {
    /** Stands for every initiator. */
    public static final String ANYBODY = "*";

    public InitiatorSpec {
        name = normal(name);
        if (!name.equals(ANYBODY) && !TargetSpec.isName(name)) {
            throw new IllegalArgumentException("'" + name + "' is not the iSCSI name of an"
                    + " initiator; write for example iqn.1993-08.org.debian:01:host, or "
                    + ANYBODY + " for all initiators");
        }
        luns = luns.map(map -> {
            TargetSpec.requireLuns(map.keySet());
            return Collections.unmodifiableSortedMap(new TreeMap<>(map));
        });
    }

    /** Returns an initiator that may read and write all LUNs. */
    public static InitiatorSpec of(String name) {
        return new InitiatorSpec(name, Optional.empty(), Optional.empty(), false,
                Optional.empty());
    }

    /** Returns a copy that authenticates by this policy. */
    public InitiatorSpec withChap(ChapPolicy policy) {
        return new InitiatorSpec(name, Optional.of(policy), luns, readOnly, limit);
    }

    /** Returns a copy with access to these LUNs only. */
    public InitiatorSpec withLuns(SortedMap<Integer, Integer> map) {
        return new InitiatorSpec(name, chap, Optional.of(map), readOnly, limit);
    }

    /** Returns a copy that is read-only, or not. */
    public InitiatorSpec withReadOnly(boolean value) {
        return new InitiatorSpec(name, chap, luns, value, limit);
    }

    /** Returns a copy with a limit on its commands. */
    public InitiatorSpec withLimit(IoLimit value) {
        return new InitiatorSpec(name, chap, luns, readOnly, Optional.of(value));
    }

    /** Returns an iSCSI name in lower case, as names are compared (RFC 7143 section 4.2.7.2, RFC 3722). */
    public static String normal(String name) {
        return name.toLowerCase(Locale.ROOT);
    }
}
