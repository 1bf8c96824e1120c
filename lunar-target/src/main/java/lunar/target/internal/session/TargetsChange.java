package lunar.target.internal.session;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import lunar.target.TargetSpec;

/**
 * A prepared change of all targets of a server, with its units: it can no longer fail and has had no effect yet.
 *
 * @param after the targets after the change, by name
 * @param changes the changes of existing targets that stay
 * @param leaving the targets that are removed
 */
public record TargetsChange(Map<String, TargetNode> after,
        Map<TargetNode, TargetNode.Change> changes,
        List<TargetNode> leaving) {

    /** Creates a target of a spec. */
    @FunctionalInterface
    public interface Maker {
        TargetNode make(TargetSpec spec) throws IOException;
    }

    /** @throws IOException if the saved state of a unit cannot be read; then nothing has changed */
    public static TargetsChange prepare(Map<String, TargetNode> before,
            Collection<TargetSpec> wanted,
            Maker maker) throws IOException {
        var after = new LinkedHashMap<String, TargetNode>();
        var changes = new HashMap<TargetNode, TargetNode.Change>();
        var fresh = new ArrayList<TargetNode>();
        try {
            for (TargetSpec spec : wanted) {
                TargetNode node = before.get(spec.name());
                if (node == null) {
                    node = maker.make(spec);
                    fresh.add(node);
                } else {
                    changes.put(node, node.prepare(spec));
                }
                after.put(spec.name(), node);
            }
        } catch (IOException | RuntimeException e) {
            changes.forEach(TargetNode::cancel);
            for (TargetNode node : fresh) {
                var _ = node.remove(); // not used yet
            }
            throw e;
        }
        var leaving = new ArrayList<>(before.values());
        leaving.removeAll(after.values());
        return new TargetsChange(Collections.unmodifiableMap(after), Map.copyOf(changes),
                List.copyOf(leaving));
    }

    /**
     * Makes the change, after that of the portals has begun.
     *
     * @return completes when the last command of each removed unit has ended
     */
    public CompletableFuture<Void> make() {
        var ends = new ArrayList<CompletableFuture<Void>>();
        leaving.forEach(target -> ends.add(target.remove()));
        for (TargetNode target : after.values()) {
            TargetNode.Change change = changes.get(target);
            if (change == null) {
                target.begin();
                target.presentPorts();
            } else {
                ends.add(target.make(change));
            }
        }
        return CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new));
    }
}
