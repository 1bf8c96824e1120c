package lunar.osd.store.directory;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import lunar.osd.wire.ObjectId;

/**
 * Model of what a power loss leaves: names and attributes as before or after the step with the last stable commit, and
 * the data of objects that were not changed in place since they were stable.
 */
final class StableState {
    private List<PartitionModel> begun = List.of();
    private List<PartitionModel> before = List.of();
    private List<PartitionModel> after = List.of();
    /** Whether that step was acknowledged as stable. */
    private boolean onlyAfter;
    private final Set<ObjectId> changedInPlace = new HashSet<>();

    /** Begins with a state, of whose data nothing is known to be stable. */
    void reset(List<PartitionModel> models) {
        before = copies(models);
        after = before;
        changedInPlace.clear();
    }

    private static List<PartitionModel> copies(List<PartitionModel> models) {
        return models.stream().map(PartitionModel::copy).toList();
    }

    void beginStep(List<PartitionModel> models) { begun = copies(models); }

    /**
     * Ends a step.
     *
     * @param models state after it, if it has succeeded
     * @param stableCommit whether there was a stable commit in it
     * @param stable whether it was acknowledged as stable
     */
    void endStep(List<PartitionModel> models, boolean stableCommit, boolean stable) {
        if (stableCommit) {
            before = begun;
            after = copies(models);
            onlyAfter = stable;
            changedInPlace.clear();
        }
        for (int i = 0; i < models.size(); i++) {
            PartitionModel old = begun.get(i);
            PartitionModel now = models.get(i);
            now.objects.forEach((id, item) -> {
                PartitionModel.Item was = old.objects.get(id);
                if (!item.settled && was != null && was.data != item.data) {
                    changedInPlace.add(now.id(id));
                }
            });
        }
    }

    /** Returns how a partition differs from what has to be there after a power loss; nothing if it does not. */
    List<String> differences(int partition, PartitionModel found) {
        List<String> wrong = differences(found, after.get(partition));
        if (wrong.isEmpty() || onlyAfter) {
            return wrong;
        }
        List<String> others = differences(found, before.get(partition));
        return others.isEmpty() ? List.of() : List.of("after: " + wrong + ", before: " + others);
    }

    private List<String> differences(PartitionModel found, PartitionModel expected) {
        var problems = new ArrayList<String>();
        if (found.exists != expected.exists || !found.collections.equals(expected.collections)) {
            problems.add("exists " + found.exists + " with collections " + found.collections
                    + " instead of " + expected.exists + " with " + expected.collections);
        }
        var ids = new TreeSet<>(found.objects.keySet());
        ids.addAll(expected.objects.keySet());
        for (long id : ids) {
            PartitionModel.Item is = found.objects.get(id);
            PartitionModel.Item should = expected.objects.get(id);
            if (is == null || should == null) {
                problems.add("object " + id + (is == null ? " is missing" : " is there"));
            } else if (should.settled && !changedInPlace.contains(found.id(id))
                    ? !is.isLike(should)
                    : !is.isNamedLike(should)) {
                problems.add("object " + id + " is " + is + " instead of " + should);
            }
        }
        return problems;
    }
}
