package lunar.admin.report;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reports a LUN that was changed.
 *
 * @param target name of its target
 * @param lun its LUN
 * @param changes what has changed, and warnings, one line each
 */
public record LunAnswer(String target, int lun, List<String> changes) {
    /** Makes the list unmodifiable. */
    public LunAnswer {
        changes = List.copyOf(changes);
    }

    /** Returns the tree of the answer. */
    public Map<String, Object> tree() {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("target", target);
        tree.put("lun", lun);
        tree.put("changes", changes);
        return tree;
    }
}
