package lunar.osd.store.directory;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import lunar.osd.wire.ObjectId;

/**
 * Model of what a power loss leaves: names and attributes as before or after the step with the last stable commit, or
 * as after a later one, and the data of objects that were not changed in place since they were stable.
 */
final class StableState {
    private List<PartitionModel> begun = List.of();
    private List<PartitionModel> before = List.of();
    private List<PartitionModel> after = List.of();
    /** Whether that step was acknowledged as stable. */
    private boolean onlyAfter;
    private final Set<ObjectId> changedInPlace = new HashSet<>();
    /** States since that step, which commits may have left that were not made stable. */
    private final List<List<PartitionModel>> later = new ArrayList<>();
    /** Objects that were created with files since the last stable commit: they may be lost, but not in part. */
    private final Set<ObjectId> created = new HashSet<>();

    /** Begins with a state, of whose data nothing is known to be stable. */
    void reset(List<PartitionModel> models) {
        before = copies(models);
        after = before;
        changedInPlace.clear();
        later.clear();
        created.clear();
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
            later.clear();
            created.clear();
        }
        later.add(begun);
        later.add(copies(models));
        for (int i = 0; i < models.size(); i++) {
            PartitionModel old = begun.get(i);
            PartitionModel now = models.get(i);
            now.objects.forEach((id, item) -> {
                PartitionModel.Item was = old.objects.get(id);
                if (was == null && item.data.length > DataStore.SMALL) {
                    created.add(now.id(id));
                }
                if (!item.settled && was != null && was.data != item.data) {
                    changedInPlace.add(now.id(id));
                }
            });
        }
    }

    /**
     * Returns how a partition differs from what has to be there after a power loss; nothing if it does not.
     *
     * @param keptLater whether commits after the last stable one were kept
     */
    List<String> differences(int partition, PartitionModel found, boolean keptLater) {
        if (keptLater) {
            var wrong = new ArrayList<String>();
            for (List<PartitionModel> each : later.reversed()) {
                List<String> differences = differences(found,
                        withoutLost(each.get(partition), found));
                if (differences.isEmpty()) {
                    return differences;
                }
                wrong.add("state: " + differences);
            }
            return wrong;
        }
        List<String> wrong = differences(found, after.get(partition));
        if (wrong.isEmpty() || onlyAfter) {
            return wrong;
        }
        List<String> others = differences(found, before.get(partition));
        return others.isEmpty() ? List.of() : List.of("after: " + wrong + ", before: " + others);
    }

    /** Returns a state without the objects that were lost. */
    private PartitionModel withoutLost(PartitionModel state, PartitionModel found) {
        PartitionModel left = state.copy();
        for (long id : state.objects.keySet()) {
            if (!found.objects.containsKey(id) && created.contains(state.id(id))) {
                left.objects.remove(id);
                left.collections.values().forEach(members -> members.remove(id));
            }
        }
        return left;
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
