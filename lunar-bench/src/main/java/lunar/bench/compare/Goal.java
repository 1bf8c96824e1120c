package lunar.bench.compare;

import lunar.bench.load.Measurement;
import lunar.bench.harness.Pair;
import lunar.bench.harness.Results;
import lunar.bench.harness.Spread;
import lunar.bench.harness.Work;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A performance goal: a bound for a figure, or for the ratio of two figures of one round.
 *
 * @param row name of the measurement in the table
 * @param what name of the figure
 * @param under divisor of the figure
 * @param bound the bound to reach
 */
record Goal(String row, String what, Figure over, Optional<Figure> under, Bound bound) {

    /** Quantities of a measurement that a goal judges. */
    enum Quantity {
        IOPS,
        SERVER_US,
        P99_US,
        /** Operations of the slowest session by those of the mean one. */
        SLOWEST;

        double of(Measurement one) {
            return switch (this) {
                case IOPS -> one.iops();
                case SERVER_US -> one.serverUs();
                case P99_US -> one.p99Us();
                case SLOWEST -> one.slowestOfMean();
            };
        }
    }

    /** A quantity of the measurements of a pair at a work. */
    record Figure(Work work, Pair pair, Quantity quantity) {
        /** Returns the value of each round, in the order of the rounds. */
        List<Double> of(List<Measurement> measured) {
            return measured.stream().filter(one -> one.work().equals(work.name())
                    && one.pair().equals(pair.label())).map(quantity::of).toList();
        }
    }

    /**
     * Where a figure is good.
     *
     * @param value the edge, which is good; NaN where the figure is only told
     */
    record Bound(boolean least, double value) {
        static final Bound TOLD = new Bound(true, Double.NaN);

        static Bound least(double value) { return new Bound(true, value); }

        static Bound most(double value) { return new Bound(false, value); }

        boolean holds(double figure) { return least ? figure >= value : figure <= value; }

        /** The median decides; where the rounds do not agree, that is said too. */
        String verdict(Spread spread) {
            if (Double.isNaN(value)) {
                return "told";
            }
            boolean all = holds(spread.min()) && holds(spread.max());
            boolean some = holds(spread.min()) || holds(spread.max());
            return holds(spread.median())
                    ? all ? "reached" : "reached, not in each round"
                    : some ? "missed, not in each round" : "missed";
        }

        @Override
        public String toString() {
            return Double.isNaN(value)
                    ? ""
                    : String.format(Locale.ROOT, "%s %s", least ? "at least" : "at most",
                            value == Math.rint(value)
                                    ? "%.0f".formatted(value)
                                    : "%s".formatted(value));
        }
    }

    /** Nothing where it was not measured. */
    Optional<Spread> spread(List<Measurement> measured) {
        List<Double> of = over.of(measured);
        if (of.isEmpty()) {
            return Optional.empty();
        }
        if (under.isEmpty()) {
            return Optional.of(Spread.of(of));
        }
        List<Double> by = under.get().of(measured);
        return by.size() == of.size()
                ? Optional.of(Results.ratio(of, by, value -> value))
                : Optional.empty();
    }

    /** Judges the measurements; empty if there are none. */
    Optional<Judged> judge(List<Measurement> measured) {
        return spread(measured).map(spread -> new Judged(row, what, bound.toString(),
                spread.text(2), bound.verdict(spread)));
    }

    /**
     * A row of the table.
     *
     * @param toReach the bound
     * @param measured median and range
     * @param verdict whether it is reached
     */
    record Judged(String row, String what, String toReach, String measured, String verdict) {}
}
