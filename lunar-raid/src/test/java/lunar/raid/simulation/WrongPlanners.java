package lunar.raid.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Plan;
import lunar.raid.layout.Plan.Computation;
import lunar.raid.layout.Plan.Method;
import lunar.raid.layout.Plan.Term;
import lunar.raid.layout.Plan.Transfer;
import lunar.raid.layout.Planner;
import org.jspecify.annotations.Nullable;

/** Planners with one mistake each. */
final class WrongPlanners {
    private WrongPlanners() {}

    /** A right planner, of whose plans some are changed. */
    private static class Changed implements Planner {
        private final Planner right;

        Changed(Planner right) { this.right = right; }

        Plan changedRead(Plan plan) { return plan; }

        Plan changedWrite(Plan plan, long unwritable) { return plan; }

        Plan changedRestore(Plan plan) { return plan; }

        @Override
        public @Nullable Plan read(int from, int blocks, long unreadable, int preferred) {
            Plan plan = right.read(from, blocks, unreadable, preferred);
            return plan == null ? null : changedRead(plan);
        }

        @Override
        public @Nullable Plan write(int from, int blocks, long unreadable, long unwritable) {
            Plan plan = right.write(from, blocks, unreadable, unwritable);
            return plan == null ? null : changedWrite(plan, unwritable);
        }

        @Override
        public @Nullable Plan restore(long units, int from, int blocks, long unreadable) {
            Plan plan = right.restore(units, from, blocks, unreadable);
            return plan == null ? null : changedRestore(plan);
        }

        @Override
        public @Nullable Plan verify(int from, int blocks, long unreadable) {
            return right.verify(from, blocks, unreadable);
        }
    }

    private static Rules reads(UnaryOperator<Plan> change) {
        return Rules.planner(right -> new Changed(right) {
            @Override
            Plan changedRead(Plan plan) { return change.apply(plan); }
        });
    }

    private static Rules writes(UnaryOperator<Plan> change) {
        return Rules.planner(right -> new Changed(right) {
            @Override
            Plan changedWrite(Plan plan, long unwritable) { return change.apply(plan); }
        });
    }

    private static Rules restores(UnaryOperator<Plan> change) {
        return Rules.planner(right -> new Changed(right) {
            @Override
            Plan changedRestore(Plan plan) { return change.apply(plan); }
        });
    }

    private static <T> List<T> without(List<T> all, Predicate<T> those) {
        var rest = new ArrayList<>(all);
        rest.removeIf(those);
        return rest;
    }

    private static Plan withComputations(Plan plan, UnaryOperator<Computation> change) {
        return new Plan(plan.method(), plan.reads(),
                plan.computations().stream().map(change).toList(),
                plan.writes());
    }

    /** Parity is not brought up to date where nothing but the second data unit is written. */
    static Rules forgetsParityOfOneUnit() {
        return writes(plan -> plan.writes().stream().allMatch(write -> !write.buffer()
                || write.unit() == 1)
                        ? new Plan(plan.method(), plan.reads(), plan.computations(),
                                without(plan.writes(), write -> !write.buffer()))
                        : plan);
    }

    /** Does so for any small write, but only when a slot is lost. */
    static Rules forgetsParityWhenDegraded() {
        return Rules.planner(right -> new Changed(right) {
            @Override
            Plan changedWrite(Plan plan, long unwritable) {
                return unwritable == 0 || plan.method() != Method.READ_MODIFY_WRITE
                        ? plan
                        : new Plan(plan.method(), plan.reads(), plan.computations(),
                                without(plan.writes(), write -> !write.buffer()));
            }
        });
    }

    /** A unit from which parity is computed anew is not read: it is whatever was there before. */
    static Rules reconstructsWithAStaleUnit() {
        return writes(plan -> plan.method() == Method.RECONSTRUCT_WRITE && !plan.reads().isEmpty()
                ? new Plan(plan.method(), plan.reads().subList(1, plan.reads().size()),
                        plan.computations(), plan.writes())
                : plan);
    }

    /** The third data unit has the factor of the second in Q. */
    static Rules takesAWrongFactorForQ(Layout layout) {
        int q = layout.units() - 1;
        return writes(plan -> withComputations(plan, sum -> sum.unit() != q || sum.buffer()
                ? sum
                : new Computation(sum.unit(), false, sum.from(), sum.blocks(), sum.terms().stream()
                        .map(term -> term.factor() == 4
                                ? new Term(term.unit(), term.buffer(), 2)
                                : term)
                        .toList())));
    }

    /** Results of two parities are computed from one unit too few. */
    static Rules recoversWithoutQ(Layout layout) {
        int q = layout.units() - 1;
        return reads(plan -> withComputations(plan,
                sum -> new Computation(sum.unit(), sum.buffer(), sum.from(),
                        sum.blocks(), without(sum.terms(), term -> term.unit() == q))));
    }

    /** The last copy does not get what is written. */
    static Rules forgetsACopy() {
        return writes(plan -> plan.writes().size() < 2
                ? plan
                : new Plan(plan.method(), plan.reads(), plan.computations(),
                        plan.writes().subList(0, plan.writes().size() - 1)));
    }

    /** A rebuild leaves out the last block of each unit. */
    static Rules restoresTooLittle() {
        return restores(plan -> new Plan(plan.method(), plan.reads(), plan.computations(),
                plan.writes()
                        .stream().map(write -> write.blocks() == 1
                                ? write
                                : new Transfer(write.unit(), write.from(), write.blocks() - 1,
                                        write.buffer()))
                        .toList()));
    }
}
