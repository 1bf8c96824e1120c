package lunar.server;

import java.util.HashMap;
import java.util.Map;
import lunar.target.InitiatorSpec;
import lunar.target.TargetSpec;

/**
 * The highest LUN that each target has served since the server started. A host may still have the disk of a LUN that
 * was removed, and would write its data to another device there, so the server never reuses a number by itself.
 * Immutable.
 *
 * @param highest by name of the target, normalized; includes targets that were removed, which may return
 */
record LunNumbers(Map<String, Integer> highest) {
    /** No target has served a LUN. */
    static final LunNumbers NONE = new LunNumbers(Map.of());

    LunNumbers {
        highest = Map.copyOf(highest);
    }

    /** Returns the numbers with those of a plan. */
    LunNumbers with(ServerPlan plan) {
        var all = new HashMap<>(highest);
        for (ServerPlan.Target target : plan.targets()) {
            if (!target.luns().isEmpty()) {
                all.merge(InitiatorSpec.normal(target.iqn()), target.luns().lastKey(), Math::max);
            }
        }
        return new LunNumbers(all);
    }

    /** Returns the numbers with that of a LUN. */
    LunNumbers with(String iqn, int lun) {
        var all = new HashMap<>(highest);
        all.merge(InitiatorSpec.normal(iqn), lun, Math::max);
        return new LunNumbers(all);
    }

    /**
     * Returns a number that the target has not served yet.
     *
     * @throws InvalidPlanException if there is none above the highest
     */
    int next(String iqn) throws InvalidPlanException {
        int next = highest.getOrDefault(InitiatorSpec.normal(iqn), -1) + 1;
        if (next > TargetSpec.MAX_LUN) {
            throw new InvalidPlanException(iqn + " has served LUN " + TargetSpec.MAX_LUN
                    + ", the last one, since the server started; specify a free LUN that no host"
                    + " still uses");
        }
        return next;
    }
}
