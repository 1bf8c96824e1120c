package lunar.target;

import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import lunar.block.BlockDevice;
import lunar.iscsi.ChapPolicy;
import lunar.target.unit.UnitSpec;

/**
 * What a target node is made of: its name, its LUNs and how initiators prove themselves. Immutable.
 *
 * @param name iSCSI name, for example {@code iqn.2026-11.org.example:disk} (RFC 7143 section 4.2.7)
 * @param alias TargetAlias, for people; may be empty
 * @param luns logical units by LUN, 0 to 16383
 * @param chap how initiators prove themselves; empty lets everybody in
 */
public record TargetSpec(String name, String alias, SortedMap<Integer, UnitSpec> luns,
        Optional<ChapPolicy> chap) {
    private static final int MAX_NAME_BYTES = 223;
    private static final int MAX_LUN = 16383;

    public TargetSpec {
        if (!name.matches(
                "(iqn\\.\\d{4}-\\d{2}\\.[a-z0-9.:-]+|eui\\.[0-9A-Fa-f]{16}|naa\\.[0-9A-Fa-f]{16,32})")
                || name.length() > MAX_NAME_BYTES) {
            throw new IllegalArgumentException("'" + name
                    + "' is not an iSCSI name; write for example iqn.2026-11.org.example:disk, in lower case");
        }
        for (int lun : luns.keySet()) {
            if (lun < 0 || lun > MAX_LUN) {
                throw new IllegalArgumentException("LUN must be 0 to " + MAX_LUN + ", not " + lun);
            }
        }
        luns = java.util.Collections.unmodifiableSortedMap(new TreeMap<>(luns));
    }

    /** A target without LUNs, open to everybody. */
    public static TargetSpec of(String name) {
        return new TargetSpec(name, "", new TreeMap<>(Map.of()), Optional.empty());
    }

    /** The same with a LUN more: a fixed disk. Whoever made the device closes it, after the server. */
    public TargetSpec withLun(int lun, BlockDevice device) {
        return withLun(lun, UnitSpec.of(device));
    }

    /** The same with a LUN more. */
    public TargetSpec withLun(int lun, UnitSpec unit) {
        var more = new TreeMap<>(luns);
        if (more.put(lun, unit) != null) {
            throw new IllegalArgumentException("LUN " + lun + " of " + name + " is given twice");
        }
        return new TargetSpec(name, alias, more, chap);
    }

    /** The same with CHAP. */
    public TargetSpec withChap(ChapPolicy policy) {
        return new TargetSpec(name, alias, luns, Optional.of(policy));
    }
}
